"""What a sandbox shows, and what it hides wherever that lies."""

import subprocess
from pathlib import Path

import pytest

from tools.grading import sandbox


def look(script: str, hidden: list[Path]) -> str:
    """What a shell in the sandbox says."""
    command = [sandbox.program(), *sandbox.walls(sandbox.as_root())]
    command += [*sandbox.folders(1 << 20), *sandbox.view(hidden)]
    done = subprocess.run(
        [*command, *sandbox.READ_ONLY, "sh", "-c", script],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Python in whose folder the repository lies, with an environment."""
    home = tmp_path / "home"
    for name in ("bin", "repository/tests", "repository/.venv/bin"):
        (home / name).mkdir(parents=True)
    homes = [home, home / "repository" / ".venv"]
    monkeypatch.setattr(sandbox, "python_homes", lambda: homes)
    return home


def test_what_is_hidden_is_hidden_in_what_is_shown(bubblewrap, home):
    place = home / "repository"
    script = f"ls {home} && ls -A {place} && ls {place}/.venv"
    assert look(script, [place]).split() == [
        "bin", "repository", ".venv", "bin"
    ]  # fmt: skip


def test_nothing_that_is_shown_can_be_written_to(bubblewrap, home):
    script = "for d in / /usr /book/lib /book/data /grader /dev; do " + (
        "touch $d/x 2>/dev/null && echo $d; done; true"
    )
    assert look(script, []) == ""


def test_of_the_machine_only_the_system_is_there(bubblewrap, home):
    usual = {"answer", "benchmarks", "book", "dev", "etc", "grader", "proc"}
    first = home.parts[1]
    system = {Path(name).name for name in sandbox.SYSTEM}
    assert set(look("ls /", []).split()) <= usual | system | {first, "tmp"}
    assert look("ls /etc", []).split() == ["alternatives", "ld.so.cache"]


def test_a_python_in_tmp_stays_where_it_is(monkeypatch):
    monkeypatch.setattr(sandbox, "python_homes", lambda: [Path("/tmp/venv")])
    assert "/tmp" not in sandbox.writable()
    monkeypatch.setattr(sandbox, "python_homes", lambda: [Path("/opt/venv")])
    assert "/tmp" in sandbox.writable()


def test_the_repository_and_the_submissions_are_hidden(tmp_path):
    hidden = sandbox.hidden_places(tmp_path)
    assert sandbox.ROOT.resolve() in hidden and tmp_path.resolve() in hidden


def test_a_link_to_an_environment_is_followed():
    """Both the link and where it leads are names that programs use."""
    homes = sandbox.python_homes()
    assert homes == [*dict.fromkeys(homes)]
    for home in homes:
        assert home.resolve() in homes or sandbox.is_in(
            home.resolve(), [Path(name) for name in sandbox.SYSTEM]
        )
