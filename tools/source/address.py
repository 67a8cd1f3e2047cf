"""Where the repository of the book is: one function for pages and tools.

`_config.yml` comes first. As long as the placeholder stands there, the
workflow that publishes the book says it, or else the remote `origin` of this
copy, if that is at GitHub. So a fork needs no configuration.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

PLACEHOLDER = "https://github.com/OWNER/REPO"
NOTEBOOKS = "colab"  # the branch into which `make publish` writes notebooks
REMOTE = re.compile(
    r"(?:(?:https?|ssh|git)://)?(?:[^/@\s]+@)?(?:ssh\.)?github\.com"
    r"(?::\d+/|[:/])/?([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)
REF = re.compile(r"refs/(heads|tags)/(.+)")


@dataclass(frozen=True)
class Place:
    """A repository, and the branch or tag of the edition.

    Notebooks of the branch `notebooks` carry the address in their first
    cell, so Colab can open them: None is the edition's own branch, and ""
    says that there is no such branch.
    """

    url: str
    branch: str
    notebooks: str | None = None
    edition: str = ""  # a tag; "" is the latest one

    @property
    def is_known(self) -> bool:
        return self.url != PLACEHOLDER


def plain(url: str) -> str:
    """An address as it is compared and written."""
    return url.strip().rstrip("/").removesuffix(".git")


def configured(root: Path) -> Place:
    """What `_config.yml` says, maybe the placeholder: notebooks carry it."""
    text = (root / "_config.yml").read_text(encoding="utf-8")
    repository = yaml.safe_load(text)["repository"]
    branch = str(repository.get("branch", "main"))
    return Place(plain(repository["url"]), branch)


def read(root: Path, environment=None) -> Place | None:
    """The repository of the book whose root this is; None if unknown."""
    place = configured(root)
    return find(place.url, place.branch, root, environment)


def find(url: str, branch: str, root: Path, environment=None) -> Place | None:
    """The same for what a configuration says.

    Args:
        url, branch: the configured address; the placeholder says nothing.
        root: of the book, which may have a remote.
        environment: variables, those of the process if there are none.
    """
    given = "" if plain(url) in ("", PLACEHOLDER) else plain(url)
    variables = os.environ if environment is None else environment
    own = of_workflow(variables)
    if own and given in ("", own):
        return run_of(own, variables) or Place(own, branch, pushed(root))
    if given:
        return Place(given, branch)
    remote = of_remote(root)
    notebooks = NOTEBOOKS if variables.get("PUBLISHING") else pushed(root)
    return Place(remote, branch, notebooks) if remote else None


def of_workflow(variables) -> str:
    """The repository in which a workflow runs; "" outside of one."""
    server = variables.get("GITHUB_SERVER_URL") or "https://github.com"
    name = variables.get("GITHUB_REPOSITORY")
    return f"{plain(server)}/{name}" if name else ""


def run_of(url: str, variables) -> Place | None:
    """What the run of a branch or a tag publishes; that of no other does."""
    match = REF.fullmatch(variables.get("GITHUB_REF", ""))
    if not match:
        return None
    kind, name = match.groups()
    if kind == "heads":
        return Place(url, name, NOTEBOOKS)
    return Place(url, name, f"{NOTEBOOKS}-{name}", edition=name)


def of_remote(root: Path) -> str:
    """The address of `origin` if that is at GitHub, else ""."""
    match = REMOTE.fullmatch(git(root, "remote", "get-url", "origin"))
    return f"https://github.com/{match[1]}" if match else ""


def pushed(root: Path) -> str:
    """The branch of notebooks if this copy knows of one, else ""."""
    there = f"refs/remotes/origin/{NOTEBOOKS}"
    return NOTEBOOKS if git(root, "rev-parse", "--verify", there) else ""


def git(root: Path, *arguments: str) -> str:
    """What git answers about this very repository; "" if it cannot."""
    if not (root / ".git").exists():  # or it would ask one further up
        return ""
    named = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, env=named)
    except OSError:
        return ""
    output = done.stdout.decode(errors="replace").strip()
    return output if done.returncode == 0 else ""
