"""Break the solutions by rule, and see whether the checks notice.

`python -m tools.exercises.mutants` tries every mutant of every solution (a
changed operator, axis, constant, argument or call), writes `book/teach/
kill_rates.json` and prints a line an exercise. `--stale` retries only the
exercises whose solution or description has changed.
"""

import argparse
import ast
import hashlib
import itertools
import json
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor

from tools.exercises.tasks import (
    GIVEN_LINE,
    Task,
    TooSlow,
    in_book,
    outcome,
    tasks,
)
from tools.faults.generate import generated
from tools.source.taught import ROOT

RECORD = ROOT / "book" / "teach" / "kill_rates.json"
JOBS = 2
SEEDS = (0, 1, 2)
SECONDS = 20  # a mutant may take; what never ends is found


def digest(task: Task) -> str:
    """What the result of an exercise depends on."""
    folder = ROOT / "book" / "kit" / "exercises"
    names = f"chapter_{task.chapter:02}.py", "contract.py"
    texts = [(folder / name).read_text(encoding="utf-8") for name in names]
    text = "\0".join([task.solution, *texts])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Unstable(ast.NodeTransformer):
    """Writes one thing as it is right for the numbers of a page only.

    A size becomes the number 5, a softmax a quotient of exponentials, its
    logarithm one taken afterwards, and a sum of logarithms that of a product.
    """

    def __init__(self, place: int) -> None:
        self.place, self.seen = place, 0

    def visit(self, node: ast.AST) -> ast.AST:
        node = self.generic_visit(node)
        new = unstable(node)
        self.seen += new is not None
        return new if new and self.seen == self.place + 1 else node


def unstable(node: ast.AST) -> ast.expr | None:
    """What may stand for a size, a softmax or a logarithm."""
    text = ast.unparse(node) if isinstance(node, ast.expr) else ""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            new = "5"
        case ast.Call(func=ast.Name(id="len")):
            new = "5"
        case ast.Call(func=ast.Name(id="softmax"), args=[x, *rest]):
            dim = "".join(f", {ast.unparse(k)}" for k in node.keywords)
            dim = "".join(f", {ast.unparse(r)}" for r in rest) + dim or ", -1"
            x = ast.unparse(x)
            new = f"({x}).exp() / ({x}).exp().sum({dim[2:]}, keepdim=True)"
        case ast.Call(func=ast.Attribute(attr="log_softmax")):
            new = f"{text.replace('.log_softmax(', '.softmax(')}.log()"
        case _:
            return None
    return ast.parse(new, mode="eval").body


def by_stress(task: Task) -> dict[str, str]:
    """Mutants that only the cases of a contract can notice.

    Each size, softmax and logarithm of the solution in turn, and each
    argument in single precision.
    """
    with in_book():
        from kit.exercises import contract, find

        spec = find(task.name).examine
        if not isinstance(spec, contract.Spec):
            return {}
        floats = [
            name
            for name, kind in spec.inputs.items()
            if isinstance(kind, contract.floats)
        ]
    changed = {}
    for place in itertools.count():
        changer, tree = Unstable(place), ast.parse(task.solution)
        text = ast.unparse(changer.visit(tree))
        if changer.seen <= place:
            break
        changed[f"unstable {place}"] = text
    for name in floats:
        tree = ast.parse(task.solution)
        rounded = ast.parse(f"{name} = {name}.float()").body
        tree.body[-1].body[1:1] = rounded  # below the docstring
        changed[f"{name}.float()"] = ast.unparse(tree)
    return changed


def mutants(task: Task) -> dict[str, str]:
    """Each mutant of the solution by the line that was changed.

    What a student is given stays as it is.
    """
    solution = task.solution
    given = [line.span() for line in GIVEN_LINE.finditer(solution)]
    return {
        str(fault).rpartition("  ->  ")[2]: fault.wrong
        for fault in generated("answer", solution)
        if not any(start <= fault.start < end for start, end in given)
    } | by_stress(task)


def survives(task: Task, source: str) -> bool:
    """Does a mutant pass the check, whatever is drawn?"""
    tries = (outcome(task, source, seed=s, seconds=SECONDS) for s in SEEDS)
    try:
        return all(r.kind == "right" and not r.hint for r in tries)
    except (TooSlow, NameError, SyntaxError):
        return False


def tried(task: Task) -> dict:
    """All mutants of an exercise: how many there are, and who survives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        all_of_them = mutants(task)
        left = [name for name, m in all_of_them.items() if survives(task, m)]
    return {
        "digest": digest(task),
        "mutants": len(all_of_them),
        "survivors": sorted(left),
    }


def read() -> dict[str, dict]:
    """The record of each exercise."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def write(record: dict[str, dict]) -> None:
    """Only the exercises that there are, in the order of the book."""
    kept = {t.name: record[t.name] for t in tasks() if t.name in record}
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    RECORD.write_text(text + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument(
        "exercises", nargs="*", help="numbers, such as 4.1 or 4.; or all"
    )
    parser.add_argument("--stale", action="store_true")
    options = parser.parse_args(arguments)
    wanted = tuple(options.exercises) or ("",)
    record = read()
    known = {name: entry["digest"] for name, entry in record.items()}
    chosen = [task for task in tasks() if task.number.startswith(wanted)]
    if options.stale:
        chosen = [t for t in chosen if known.get(t.name) != digest(t)]
    with ProcessPoolExecutor(JOBS) as pool:
        for task, result in zip(chosen, pool.map(tried, chosen), strict=True):
            record[task.name] = result
            left = result["survivors"]
            killed = result["mutants"] - len(left)
            print(f"{task.number:5} {task.name:24}", end="")
            print(f"{killed:4} of {result['mutants']:3} noticed", flush=True)
            for name in left:
                print(f"        {name}")
    write(record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
