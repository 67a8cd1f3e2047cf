"""What has changed on a page, and when, as git remembers it.

Without git, without the history, or with a part of it only, as services
fetch it, the pages say nothing about it.
"""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from tools.source.address import git

ENTRY, FIELD = "\0", "\1"


class Change(NamedTuple):
    """A commit that touched a page."""

    date: str
    subject: str


def parsed(log: str) -> dict[str, list[Change]]:
    """The changes of each file of today, the last one first.

    A file that was renamed keeps what it went through under its old name.
    """
    changes, today = defaultdict(list), {}
    for entry in log.split(ENTRY)[1:]:
        head, _, files = entry.partition("\n")
        change = Change(*head.split(FIELD))
        for line in filter(None, files.splitlines()):
            status, *paths = line.split("\t")
            name = today.get(paths[-1], paths[-1])
            changes[name].append(change)
            if status.startswith("R"):
                today[paths[0]] = name
    return dict(changes)


def changes(root: Path) -> dict[str, list[Change]]:
    """The changes of each file below `book`, by its path."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        return {}
    form = "--format=%x00%as%x01%s"
    options = ["--no-merges", "-M", "--name-status", form]
    unquoted = ["-c", "core.quotePath=off"]
    return parsed(git(root, *unquoted, "log", *options, "--", "book"))
