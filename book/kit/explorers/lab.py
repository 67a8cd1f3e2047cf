"""A Transformer that trains in the page and can be taken apart. Not taught.

The page trains in a Worker where it may start one; a notebook, in which
scripts have no address, on its own thread in slices.
"""

import torch

from kit.explorers import Explorer, table
from kit.lab import ANY, TASKS

SCRIPTS = ("engine", "trainer")
LENGTHS = {"lookup": 7, "brackets": 12}
LETTERS = "abcdef"
SIGNS = {"lookup": [*map(str, range(6)), *LETTERS]}
SIGNS["lookup"] += [letter + str(n) for letter in LETTERS for n in range(6)]
SIGNS["brackets"] = [*map(str, range(13)), "(", ")"]


def lab_explorer() -> Explorer:
    """The whole lab."""
    return Explorer("lab-explorer", tasks(), SCRIPTS, start={})


def small_lab(question: str, first: dict, second: dict | None = None):
    """A question, one button, one picture, and the result in words.

    Args:
        question: what it asks; it is the title.
        first: the settings of the run.
        second: what is different in a run beside it.
    """
    start = {"first": first, "second": second or {}, "two": bool(second)}
    return Explorer(
        "lab-explorer",
        f"<p>{question}</p>\n{tasks([first.get('task', 'sort')])}",
        SCRIPTS,
        question=question,
        start=start,
    )


def tasks(names=tuple(TASKS)) -> str:
    """A row of each task and what is right, as a table."""
    rows = {}
    for name in names:
        task = TASKS[name]
        drawn = torch.Generator().manual_seed(1)
        ids = task.rows(1, LENGTHS.get(name, 8), True, drawn)
        rows[name] = [words(name, ids[0]), words(name, task.answer(ids)[0])]
    return table("What the models learn", ["task", "read", "right"], rows)


def words(name: str, ids) -> str:
    signs = SIGNS.get(name, [str(n) for n in range(20)])
    return " ".join("·" if id == ANY else signs[id] for id in ids.tolist())
