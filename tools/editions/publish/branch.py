"""A branch of the repository as a folder: fetched, changed, pushed.

Nothing here touches the working tree or the branches of this copy.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


class PublishError(Exception):
    """Why nothing was published, and what to do."""


@dataclass(frozen=True)
class Branch:
    """A branch of the remote `origin`.

    A branch without history holds products: each commit replaces the last.
    """

    root: Path
    name: str
    has_history: bool = True

    def git(self, *arguments: str | Path, **variables: str) -> str:
        """What git says in this copy of the book."""
        command = ["git", "-C", self.root, *arguments]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0"} | variables,
        )
        if done.returncode:
            raise PublishError(f"git {arguments[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def head(self) -> str:
        """The commit that it has now; "" if there is no such branch."""
        ref = f"refs/heads/{self.name}"
        return self.git("ls-remote", "origin", ref).partition("\t")[0]

    def fetch(self, folder: Path) -> str:
        """Write its files into a folder; returns the commit they are of.

        The index lies beside the folder.
        """
        if not (head := self.head()):
            return ""
        fetch = ["fetch", "-q", "--no-tags", "--no-write-fetch-head"]
        self.git(*fetch, "origin", head)
        index = {"GIT_INDEX_FILE": f"{folder}.index"}
        self.git("read-tree", head, **index)
        prefix = f"--prefix={folder.as_posix()}/"
        self.git("checkout-index", "--all", prefix, **index)
        return head

    def push(self, folder: Path, before: str, message: str) -> bool:
        """Make the folder its content; says whether that is anything new.

        Args:
            folder: all that the branch is to hold.
            before: the commit it had when the folder was made.
            message: of the commit.

        Raises:
            PublishError: somebody else has pushed meanwhile.
        """
        tree = self.tree(folder)
        if before and tree == self.git("rev-parse", f"{before}^{{tree}}"):
            return False
        parents = ["-p", before] if before and self.has_history else []
        commit = self.git(*WHO, "commit-tree", tree, *parents, "-m", message)
        ref = f"refs/heads/{self.name}"
        lease = f"--force-with-lease={ref}:{before}"
        self.git("push", "-q", lease, "origin", f"{commit}:{ref}")
        return True

    def tree(self, folder: Path) -> str:
        """The folder as git knows it, file by file."""
        where = {
            "GIT_INDEX_FILE": f"{folder}.index",
            "GIT_DIR": self.git("rev-parse", "--absolute-git-dir"),
            "GIT_WORK_TREE": str(folder),
        }
        add = ["-C", folder, "-c", "core.autocrlf=false", "add"]
        self.git(*add, "--all", "--force", ".", **where)
        return self.git("write-tree", **where)


WHO = ("-c", "user.name=Publishing", "-c", "user.email=publish@localhost")
