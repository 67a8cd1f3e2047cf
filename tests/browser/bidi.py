"""Firefox, driven in its own words: WebDriver BiDi over a websocket.

Playwright drives only a Firefox of its own making; this one is the system's.
"""

import json
import re
import shutil
import subprocess
from threading import Thread

import websocket

ADDRESS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
}
KEYS["Space"] = " "
SECONDS = 60


def program() -> str | None:
    """The path of Firefox, if there is one."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """One window without a screen. `messages` has what its console said."""

    def __init__(self, profile):
        self.messages, self.number = [], 0
        command = [program(), "--headless", "--no-remote"]
        command += ["--remote-debugging-port=0", "--profile", profile]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True
        )
        # It says where it listens when it is ready, and talks on.
        found = next(filter(None, map(ADDRESS.search, self.process.stderr)))
        self.listener = Thread(target=self.process.stderr.read)
        self.listener.start()
        self.socket = websocket.create_connection(
            f"{found[1]}/session", timeout=SECONDS, suppress_origin=True
        )
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        # In a tab of our own the page has the focus, not the address bar.
        created = self.ask("browsingContext.create", type="tab")
        self.context = created["context"]

    def ask(self, method, **parameters):
        """Send a command; returns its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        self.socket.send(json.dumps(command))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("method") == "log.entryAdded":
                said = answer["params"]
                if said["source"].get("context"):  # not Firefox of itself
                    self.messages.append(said["text"])
            elif answer.get("id") == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(answer["message"])
                return answer["result"]

    def open(self, address, width=1100):
        self.messages.clear()
        self.ask(
            "browsingContext.setViewport",
            context=self.context,
            viewport={"width": width, "height": 900},
        )
        self.ask(
            "browsingContext.navigate",
            context=self.context,
            url=address,
            wait="complete",
        )

    def evaluate(self, expression):
        """The value of an expression, as JSON has it."""
        answer = self.ask(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self.context},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"].get("value", "null"))

    def press(self, *names):
        for name in names:
            key = KEYS[name]
            stroke = [{"type": t, "value": key} for t in ("keyDown", "keyUp")]
            self.ask(
                "input.performActions",
                context=self.context,
                actions=[{"type": "key", "id": "keys", "actions": stroke}],
            )

    def close(self):
        self.ask("browser.close")
        self.socket.close()
        self.process.wait(SECONDS)
        self.listener.join(SECONDS)
        self.process.stderr.close()
