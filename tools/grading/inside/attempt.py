"""Runs an answer and its check in this process, and says what came of it."""

import ast
import contextlib
import io
import random
import re
import traceback
from collections.abc import Callable, Container

import torch
from guard import Guard
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SPECIFICATIONS = "/book/kit/exercises/"
EMPTY = "def {}(*given, **named):\n    raise NotImplementedError"
OLD = re.compile(r"\d{1,3}\.\d{1,3}")  # an exercise, before it had a name
LONGEST = 200  # characters of an error's own words


def new_shell() -> InteractiveShell:
    """What runs cells in a notebook, without a history on the disk."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.enable_gui = lambda *given, **named: None
    shell.run_line_magic = forgiving(shell.run_line_magic)
    shell.showtraceback = lambda *given, **named: None
    shell.showsyntaxerror = lambda *given, **named: None
    return shell


def forgiving(magic: Callable) -> Callable:
    """A line such as `%matplotlib widget` is no part of an answer."""

    def line_magic(name, line, _stack_depth=1):
        try:
            return magic(name, line, _stack_depth=_stack_depth + 1)
        except Exception:
            return None

    return line_magic


class WithoutChecks(ast.NodeTransformer):
    """Takes `check("mask", mask)` out of the cells of a student."""

    def __init__(self, names: Container[str]) -> None:
        self.names = names

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return ast.Pass() if self.is_check(node.value) else node

    def is_check(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or not node.args:
            return False
        which = str(getattr(node.args[0], "value", ""))
        is_known = which in self.names or OLD.fullmatch(which)
        return bool(is_known) and getattr(node.func, "id", "") == "check"


def run(shell: InteractiveShell, source: str) -> BaseException | None:
    """Run a cell; returns what it raised."""
    done = shell.run_cell(source)
    return done.error_before_exec or done.error_in_exec


def attempt(shell: InteractiveShell, job: dict) -> dict:
    """What the check says of an answer.

    First come the chapter's own cells, then the student's; the check and
    what it relies on are the book's again before it runs.
    """
    torch.manual_seed(0)
    random.seed(0)
    for source in job["chapter"]:
        if error := run(shell, source):
            why = f"a cell of the chapter stops with {words(error)}"
            return {"state": "broken", "hint": why}
    guard = Guard()
    without_checks = WithoutChecks(job["names"])
    shell.ast_transformers.append(without_checks)
    for source in job["own"]:
        if error := run(shell, source):
            return {"state": "stopped", "hint": stopped(error)}
    shell.ast_transformers.remove(without_checks)
    notes = [f"replaced {name}" for name in guard.mend()]
    verdict = checked(shell, job)
    if replaced := guard.mend():
        why = f"it replaced {replaced[0]} while it was being checked"
        verdict = {"state": "tampered", "hint": why}
    elif verdict.get("share") and not refuses_nothing(shell, job):
        why = "the check accepts an empty answer as well"
        verdict = {"state": "tampered", "hint": why}
    return {**verdict, "notes": notes + verdict.get("notes", [])}


def checked(shell: InteractiveShell, job: dict) -> dict:
    """The verdict of the check cell, which is the book's."""
    from kit.exercises.verdict import NotStarted, Wrong

    if job["name"] not in shell.user_ns:
        return {"state": "wrong", "hint": f"{job['name']} is not defined"}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        error = run(shell, job["check"])
    if error is None:
        *_, remark = said.getvalue().strip().partition(": right. ")
        notes = [f"ask: {remark}"] if remark else []
        return {"state": "right", "share": 1.0, "notes": notes}
    if isinstance(error, NotStarted):
        return {"state": "not started"}
    if not isinstance(error, Wrong):
        return {"state": "stopped", "hint": stopped(error)}
    if not is_from_check(error, Wrong):
        return {"state": "tampered", "hint": "it raised its verdict itself"}
    prefix = f"{job['name']}: "
    hint = str(error.hint).removeprefix(prefix).removeprefix("not yet. ")
    return {"state": "wrong", "hint": hint, "share": error.share}


def is_from_check(error: BaseException, kind: type) -> bool:
    """Was a verdict first raised in the description of an exercise?"""
    while isinstance(error.__context__, kind):
        error = error.__context__
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.startswith(SPECIFICATIONS)


def refuses_nothing(shell: InteractiveShell, job: dict) -> bool:
    """Does the check still refuse an answer that does nothing?"""
    run(shell, EMPTY.format(job["name"]))
    return run(shell, job["check"]) is not None


def words(error: BaseException) -> str:
    """An error in a line, whatever it does when it is asked."""
    try:
        text = " ".join(str(error).split())[:LONGEST]
    except BaseException:
        text = ""
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def stopped(error: BaseException) -> str:
    """How somebody's code stopped, and in which line of the cell."""
    if isinstance(error, SyntaxError):
        return f"your code is no Python: {words(error)}"
    frames = traceback.extract_tb(error.__traceback__)
    cells = [f for f in frames if "ipython-input" in f.filename]
    where = f" (line {cells[-1].lineno} of the cell)" if cells else ""
    return f"your code stops with {words(error)}{where}"
