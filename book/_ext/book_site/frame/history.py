"""What has changed on a page, and when, as git remembers it.

Without git, without the history, or with a part of it only, as services
fetch it, the pages say nothing about it.
"""

import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ENTRY, FIELD = "\x1e", "\x1f"
SHOWN = 8  # changes; the older ones stand in the repository


@dataclass(frozen=True)
class Change:
    """A commit that touched a page."""

    date: str
    subject: str


def git(root: Path, *arguments: str) -> str | None:
    """What git answers, or None if it cannot."""
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.decode(errors="replace")


def parsed(log: str) -> dict[str, list[Change]]:
    """The changes of each file of today, the last one first.

    A file that was renamed keeps what it went through under its old name.
    """
    found, today = defaultdict(list), {}
    for entry in log.split(ENTRY)[1:]:
        head, _, files = entry.partition("\n")
        change = Change(*head.split(FIELD))
        for line in filter(None, files.splitlines()):
            status, *paths = line.split("\t")
            name = today.get(paths[-1], paths[-1])
            found[name].append(change)
            if status.startswith("R"):
                today[paths[0]] = name
    return dict(found)


def changes(root: Path) -> dict[str, list[Change]]:
    """The changes of each file below `book`, by its path."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false\n":
        return {}
    form = f"--format={ENTRY}%as{FIELD}%s"
    options = ["--no-merges", "-M", "--name-status", "--relative", form]
    log = git(root, "-c", "core.quotePath=off", "log", *options, "--", "book")
    return parsed(log or "")
