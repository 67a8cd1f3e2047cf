"""Firefox, driven in its own words: WebDriver BiDi over a websocket.

Playwright drives only a Firefox of its own making; this one is the system's.
"""

import json
import re
import shutil
import subprocess
import time

import websocket

ADDRESS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
PREFERENCES = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.server": "data:,",
}
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Home": "\ue011",
    "End": "\ue010",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Space": " ",
}
SECONDS = 60


def program() -> str | None:
    """The path of Firefox, if there is one."""
    return next(
        filter(None, map(shutil.which, ("firefox-esr", "firefox"))), ""
    )


class Firefox:
    """One window without a screen. `messages` has what its console said."""

    def __init__(self, profile):
        self.messages, self.number = [], 0
        self.profile, self.said = profile / "profile", profile / "said"
        self.profile.mkdir()
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in PREFERENCES.items()
        ]
        (self.profile / "user.js").write_text("".join(lines))
        command = [program(), "--headless", "--no-remote"]
        command += ["--remote-debugging-port=0", "--profile", self.profile]
        with self.said.open("w") as said:
            self.process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            self.connect()
        except BaseException:
            self.process.kill()
            raise

    def connect(self):
        self.socket = websocket.create_connection(
            f"{self.address()}/session", timeout=SECONDS, suppress_origin=True
        )
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        # In a tab of our own the page has the focus, not the address bar.
        created = self.ask("browsingContext.create", type="tab")
        self.context = created["context"]

    def address(self) -> str:
        """Where it listens; it says so when it is ready."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if found := ADDRESS.search(self.said.read_text()):
                return found[1]
            time.sleep(0.1)
        raise RuntimeError(f"Firefox did not start: {self.said.read_text()}")

    def ask(self, method, **parameters):
        """Send a command; returns its result."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        self.socket.send(json.dumps(command))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("method") == "log.entryAdded":
                self.messages.append(answer["params"]["text"])
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
