"""A JupyterHub for a class: a student comes in by a link of nbgitpuller.

It needs `configurable-http-proxy`, which comes from npm, and is skipped
without it.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

pytest.importorskip("jupyterhub", reason="make test-nbgrader installs it")
ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "tools" / "editions" / "classroom" / "jupyterhub_config.py"
PATIENCE = 300  # seconds, until something that cannot come is given up
AUTHOR = ("-c", "user.name=teacher", "-c", "user.email=t@example.org")

pytestmark = pytest.mark.skipif(
    not shutil.which("configurable-http-proxy"),
    reason="there is no configurable-http-proxy: npm install -g it",
)


def git(folder: Path, *command: str) -> None:
    subprocess.run(["git", *AUTHOR, *command], cwd=folder, check=True)


@pytest.fixture
def course(tmp_path):
    """A repository with a chapter, as `make student` writes it."""
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(ROOT / "book" / "04_masks.ipynb", work)
    git(work, "init", "-q", "-b", "main")
    git(work, "add", "-A")
    git(work, "commit", "-qm", "The first week")
    git(tmp_path, "clone", "-q", "--bare", "work", "course.git")
    git(work, "remote", "add", "origin", str(tmp_path / "course.git"))
    return tmp_path


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture
def hub(course):
    url = f"http://127.0.0.1:{free_port()}"
    environment = os.environ | {
        "CLASS_PASSWORD": "open sesame",
        "CLASS_FOLDER": str(course / "class"),
        "CLASS_URL": url,
    }
    programs = str(Path(sys.executable).parent)
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    log = (course / "hub.log").open("w")
    command = [sys.executable, "-m", "jupyterhub", "-f", str(CONFIG)]
    running = subprocess.Popen(
        command, env=environment, cwd=course, stdout=log, stderr=log
    )
    try:
        yield Browser(url)
    finally:
        running.terminate()
        running.wait()


class Browser(requests.Session):
    """Keeps cookies and follows redirects."""

    def __init__(self, url: str):
        super().__init__()
        self.url = url
        self.trust_env = False  # no proxy of the machine's stands between

    def ask(self, path: str, form: dict | None = None, **query: str):
        how = "POST" if form else "GET"
        answer = self.request(how, self.url + path, params=query, data=form)
        answer.raise_for_status()
        return answer.url, answer.text

    def patiently(self, path: str, wanted: str, **query: str):
        """Ask again until the address that answers holds a text."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                url, text = self.ask(path, **query)
                if wanted in url:
                    return text
            except OSError:
                pass
            time.sleep(0.5)
        pytest.fail(f"{path} does not lead to {wanted}")

    def token(self, path: str) -> str:
        return self.cookies.get("_xsrf", path=path)

    def log_in(self, name: str, password: str) -> str:
        self.patiently("/hub/login", "/hub/login")
        form = {"username": name, "password": password}
        return self.ask("/hub/login", form, _xsrf=self.token("/hub/"))[0]


def test_a_link_brings_a_student_to_the_course(hub, course):
    hub.log_in("ada", "open sesame")
    link = {
        "repo": f"file://{course / 'course.git'}",
        "branch": "main",
        "targetPath": "course",
        "urlpath": "lab/tree/course/04_masks.ipynb",
    }
    page = hub.patiently("/hub/user-redirect/git-pull", "/user/ada/", **link)
    assert "nbgitpuller" in page
    pull = dict(link, targetpath="course", _xsrf=hub.token("/user/ada/"))
    told = hub.ask("/user/ada/git-pull/api", **pull)[1]
    assert '"phase": "finished"' in told
    home = course / "class" / "homes" / "ada" / "course"
    notebook = home / "04_masks.ipynb"
    assert notebook.exists()
    hers = json.loads(notebook.read_text())
    hers["cells"][-1]["source"] = ["my own notes"]
    notebook.write_text(json.dumps(hers))
    (course / "work" / "week_2.txt").write_text("A second week.")
    git(course / "work", "add", "-A")
    git(course / "work", "commit", "-qm", "The second week")
    git(course / "work", "push", "-q", "origin", "main")
    told = hub.ask("/user/ada/git-pull/api", **pull)[1]
    assert '"phase": "finished"' in told
    assert (home / "week_2.txt").exists()
    assert "my own notes" in notebook.read_text()


def test_a_wrong_password_stays_outside(hub):
    with pytest.raises(requests.HTTPError, match="403"):
        hub.log_in("eve", "guess")
