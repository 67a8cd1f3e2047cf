"""What must hold for every notebook of the book, whatever it teaches.

Each check lists what is wrong with a notebook. It is run on every chapter,
and below on cells that are made to fail it.
"""

import ast
import re
from collections.abc import Iterator
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_output,
)

from tools import colab, sync
from tools.compare import fields
from tools.plugin import stored_problems
from tools.taught import MARKER, ROOT, chapters

BOOK = ROOT / "book"
LONGEST_CELL = 30  # lines
IMPORTS = re.compile("# @title Imports\n")
EXERCISES = range(4, 7)  # in a chapter
TRANSFER = 2  # of them, at least, leave the situation of the page


def stored_outputs(notebook) -> Iterator[str]:
    """Every cell was run, from top to bottom, without an error or warning."""
    yield from stored_problems(notebook.cells)


def plain_python(notebook) -> Iterator[str]:
    """Cells that run anywhere: no magics, no `import *`, no path hack."""
    for number, cell in enumerate(sync.code_cells(notebook), start=1):
        try:
            tree = ast.parse(cell.source)
        except SyntaxError as error:
            yield f"code cell {number}: not plain Python: {error.text}"
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.alias) and node.name == "*":
                yield f"code cell {number}: import *"
            if ast.unparse(node) in ("sys.path", "get_ipython"):
                yield f"code cell {number}: {ast.unparse(node)}"


def short_cells(notebook) -> Iterator[str]:
    """A reader sees a cell at a glance; definitions, imports may be longer."""
    for number, cell in enumerate(sync.code_cells(notebook), start=1):
        length = cell.source.count("\n") + 1
        is_long = length > LONGEST_CELL and not IMPORTS.match(cell.source)
        if is_long and not MARKER.match(cell.source):
            yield f"code cell {number}: {length} lines, not {LONGEST_CELL}"


def figures(notebook) -> Iterator[str]:
    """Every figure can be heard, understood and referred to."""
    for number, cell in enumerate(sync.code_cells(notebook), start=1):
        kinds = [kind for o in cell.outputs for kind in o.get("data", {})]
        if not any(kind.startswith("image/") for kind in kinds):
            continue
        shown = cell.metadata.get("mystnb", {})
        figure = shown.get("figure", {})
        if len(shown.get("image", {}).get("alt", "")) < 20:
            yield f"code cell {number}: the figure lacks an alt text"
        if not figure.get("caption"):
            yield f"code cell {number}: the figure lacks a caption"
        if not figure.get("name", "").startswith("fig-"):
            yield f"code cell {number}: the figure lacks a name `fig-...`"


HEADING = re.compile(r"### Exercise (\d+\.\d+) · \S")
EFFORT = re.compile(
    r"^\*\*\d+ minutes? · (easy|medium|hard)( · transfer)?\.?\*\*", re.M
)


def exercises(notebook) -> Iterator[str]:
    """4 to 6 of them, each with all of its parts."""
    cells, found, transfer = notebook.cells, [], 0
    for place, cell in enumerate(cells):
        if not cell.source.startswith("### Exercise"):
            continue
        found.append(place)
        heading = cell.source.split("\n")[0]
        effort = EFFORT.search(cell.source)
        transfer += bool(effort and effort[2])
        if not HEADING.match(heading):
            yield f"{heading}: not `### Exercise <number> · <title>`"
        if not effort:
            yield f"{heading}: no `**<n> minutes · <easy, medium, hard>**`"
        if "<details>\n<summary>Hint" not in cell.source:
            yield f"{heading}: no hint"
        for problem in answer_problems(*(cells[place + 1 : place + 3])):
            yield f"{heading}: {problem}"
    if len(found) not in EXERCISES:
        yield f"{len(found)} exercises, not 4 to 6"
    if transfer < TRANSFER:
        yield f"{transfer} exercises are marked `transfer`, not {TRANSFER}"
    graded = [c for c in cells if "nbgrader" in c.metadata]
    if len(graded) != 2 * len(found):
        yield f"{len(graded)} cells with nbgrader metadata, not 2 an exercise"


def answer_problems(answer=None, check=None) -> Iterator[str]:
    """What is wrong with the two cells below an exercise."""
    for cell, role in ((answer, "solution"), (check, "grade")):
        grader = cell.metadata.get("nbgrader", {}) if cell else {}
        if not grader.get(role) or cell.cell_type != "code":
            yield f"no cell with nbgrader metadata `{role}: true` in its place"
            return
    name = answer.metadata["nbgrader"]["grade_id"]
    body = ast.parse(answer.source).body
    if name not in [getattr(node, "name", None) for node in body]:
        yield f"the answer cell does not define {name}, its grade_id"
    markers = re.findall(r"### (BEGIN|END) SOLUTION$", answer.source, re.M)
    if not markers or markers != ["BEGIN", "END"] * (len(markers) // 2):
        yield "### BEGIN SOLUTION and ### END SOLUTION do not come in pairs"
    if check.metadata["nbgrader"]["grade_id"] != f"{name}-check":
        yield f"the grade_id of the check cell is not {name}-check"
    if not check.metadata["nbgrader"].get("locked"):
        yield "the check cell is not locked"


UNFIT = {
    "a negative zero": r"(?<![\w.])-0(\.0*)?(?![\w.])",
    "more than 4 decimals": r"\.\d{5,}",
    "a rounding residual": r"\d[eE]-(0*[7-9]|0*[1-9]\d+)(?!\d)",
    "a device": r"device=|\bcuda\b",
    "an address in memory": r"\b0x[0-9a-f]{6,}",
}


def printed_numbers(notebook) -> Iterator[str]:
    """Numbers that mean something to a reader, on every machine."""
    for number, cell in enumerate(sync.code_cells(notebook), start=1):
        for output in cell.outputs:
            for kind, text in fields(output).items():
                if kind.startswith("image/"):
                    continue
                for name, pattern in UNFIT.items():
                    if match := re.search(pattern, text):
                        line = text[: match.end()].split("\n")[-1]
                        yield f"code cell {number}: prints {name}: {line}"


def links(notebook) -> Iterator[str]:
    """Links to other pages of the book, and to works that it cites."""
    works = (BOOK / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{([^,]+),", works, re.MULTILINE)
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", cell.source):
            page, _, anchor = target.partition("#")
            if re.match(r"\w+:", page):  # another site
                continue
            if page and not (BOOK / page).is_file():
                yield f"a link to {page}, which does not exist"
            if page == "bibliography.md" and anchor not in keys:
                yield f"a link to {anchor}, which references.bib lacks"


CHECKS = (
    stored_outputs,
    plain_python,
    short_cells,
    figures,
    exercises,
    printed_numbers,
    links,
)


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
@pytest.mark.parametrize("check", CHECKS)
def test_a_chapter_passes(check, path):
    problems = list(check(sync.read(path)))
    assert not problems, "\n".join([f"{path.name}:", *problems])


PLACEHOLDER = pytest.param(colab.PLACEHOLDER, marks=pytest.mark.slow)


@pytest.fixture(params=[PLACEHOLDER, "https://github.com/some/book"])
def addressed(request, tmp_path):
    """The root of a book with this address in its configuration."""
    for name in ("_toc.yml", "book", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    config = f"repository: {{url: '{request.param}', branch: v0.2}}"
    (tmp_path / "_config.yml").write_text(config)
    return tmp_path


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_chapter_passes_with_and_without_an_address(path, addressed):
    notebook = nbformat.reads(sync.synced(path, addressed, run=False), 4)
    has_address = colab.stored_address(addressed).is_known
    assert ("colab.research" in notebook.cells[0].source) == has_address
    problems = [line for check in CHECKS for line in check(notebook)]
    assert not problems, "\n".join([f"{path.name}:", *problems])


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_chapter_is_as_make_sync_leaves_it(path):
    is_synced = sync.synced(path, run=False) == path.read_text("utf-8")
    assert is_synced, f"{path.name}: run `make sync`"


def test_all_chapters_begin_with_the_same_cell():
    expected = colab.first_cell(colab.stored_address(ROOT), colab.pins(ROOT))
    for path in chapters():
        first = sync.code_cells(sync.read(path))[0]
        assert first.source == expected, f"{path.name}: run `make sync`"


def test_every_notebook_is_in_the_table_of_contents():
    assert sorted(BOOK.glob("*.ipynb")) == sorted(chapters())
    assert chapters()


def test_names_of_figures_and_exercises_are_used_once():
    names = []
    for path in chapters():
        for cell in sync.code_cells(sync.read(path)):
            names.append(cell.metadata.get("nbgrader", {}).get("grade_id"))
            shown = cell.metadata.get("mystnb", {})
            names.append(shown.get("figure", {}).get("name"))
    names = sorted(filter(None, names))
    assert names == sorted(set(names))


# The checks themselves.


def code(source="1", *outputs, **metadata):
    return new_code_cell(
        source, outputs=list(outputs), execution_count=1, metadata=metadata
    )


def words(text):
    return new_markdown_cell(text)


def prints(text):
    return code("1", new_output("stream", name="stdout", text=text))


def figure(alt="Three bars, the first highest.", **figure):
    image = new_output("display_data", {"image/png": "AAAA"})
    named = {"name": "fig-bars", "caption": "Bars."} | figure
    return code("1", image, mystnb={"image": {"alt": alt}, "figure": named})


TASK = """### Exercise 1.1 · Add

**5 minutes · easy · transfer.** Add.

<details>
<summary>Hint</summary>

Add.

</details>"""
ANSWER = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"


def grader(**metadata):
    return {"nbgrader": {"grade_id": "f", "locked": False} | metadata}


def exercise(task=TASK, answer=ANSWER, name="f", **check):
    check = {"grade_id": "f-check", "grade": True, "locked": True} | check
    return [
        words(task),
        code(answer, **grader(solution=True, grade_id=name)),
        code("assert f() == 1", **grader(**check)),
    ]


GOOD = {
    stored_outputs: [code("1")],
    plain_python: [code("a = '''\n!ls\n%ls'''\nb = (7\n    % 3)")],
    short_cells: [code("1\n" * 29 + "1"), code("# lib/x.py\n" + "1\n" * 40)],
    figures: [figure(), prints("no figure")],
    exercises: 4 * exercise(),
    printed_numbers: [
        prints("tensor([-0.5000, 0.0000, -0.0001]), 1.5e-06, pages 3-0"),
        prints("torch 2.13.0, 10.20.30, 1,000,000, 0xff, id-0.png"),
    ],
    links: [words("[a](bibliography.md#vaswani2017) [b](https://x.org/y.md)")],
}
BAD = [
    (stored_outputs, [code(), code()], "execution count is 1, not 2"),
    (
        stored_outputs,
        [code("1", new_output("stream", name="stderr", text="oh"))],
        "stores stderr",
    ),
    (
        stored_outputs,
        [code("1", new_output("error", ename="KeyError", evalue="3"))],
        "stores a KeyError",
    ),
    (plain_python, [code("a = 1\n!ls")], "not plain Python: !ls"),
    (plain_python, [code("%matplotlib inline")], "not plain Python"),
    (plain_python, [code("x = !ls")], "not plain Python"),
    (plain_python, [code("get_ipython().system('ls')")], "get_ipython"),
    (plain_python, [code("from math import *")], "import *"),
    (plain_python, [code("import sys\nsys.path.append('.')")], "sys.path"),
    (short_cells, [code("1\n" * 30 + "1")], "code cell 1: 31 lines, not 30"),
    (figures, [figure(alt="Bars.")], "lacks an alt text"),
    (figures, [figure(caption="")], "lacks a caption"),
    (figures, [figure(name="bars")], "lacks a name"),
    (figures, [code("1", *figure().outputs)], "lacks an alt text"),
    (exercises, 3 * exercise(), "3 exercises, not 4 to 6"),
    (exercises, 7 * exercise(), "7 exercises, not 4 to 6"),
    (exercises, 4 * exercise()[:2], "`grade: true` in its place"),
    (exercises, 4 * exercise()[::2], "`solution: true` in its place"),
    (exercises, [*4 * exercise(), exercise()[1]], "9 cells with nbgrader"),
    (exercises, 4 * exercise(name="g"), "does not define g, its grade_id"),
    (exercises, 4 * exercise(grade_id="g"), "is not f-check"),
    (exercises, 4 * exercise(locked=False), "is not locked"),
    (exercises, 4 * exercise(answer="def f(): 1"), "do not come in pairs"),
    (
        exercises,
        4 * exercise(answer=ANSWER.replace("END", "BEGIN")),
        "do not come in pairs",
    ),
    *(
        (exercises, 4 * exercise(task=TASK.replace(old, new)), problem)
        for old, new, problem in [
            (" · Add", ": Add", "not `### Exercise <number> · <title>`"),
            (" · transfer", "", "0 exercises are marked `transfer`, not 2"),
            ("5 minutes · ", "", "no `**<n> minutes"),
            ("easy", "trivial", "no `**<n> minutes"),
            ("<summary>Hint", "<summary>Help", "no hint"),
        ]
    ),
    *(
        (printed_numbers, [prints(f"a line\nof {text} words")], problem)
        for text, problem in [
            ("-0.0000", "prints a negative zero: of -0.0000"),
            ("[-0., 1.]", "a negative zero"),
            ("0.30000000000000004", "more than 4 decimals"),
            ("0.12345", "more than 4 decimals"),
            ("5.9605e-08", "a rounding residual"),
            ("1e-12", "a rounding residual"),
            ("tensor([1], device='mps:0')", "a device"),
            ("on cuda", "a device"),
            ("<function f at 0x7fd106772990>", "an address in memory"),
        ]
    ),
    (
        printed_numbers,
        [code("1", new_output("execute_result", {"text/plain": "-0.0"}))],
        "a negative zero",
    ),
    (links, [words("see [2](02_nothing.ipynb)")], "link to 02_nothing.ipynb"),
    (links, [words("[x](bibliography.md#nobody)")], "which references.bib"),
]


@pytest.mark.parametrize("check", CHECKS)
def test_a_good_notebook_passes(check):
    assert list(check(SimpleNamespace(cells=GOOD[check]))) == []


@pytest.mark.parametrize("check, cells, problem", BAD)
def test_a_bad_notebook_fails(check, cells, problem):
    problems = list(check(SimpleNamespace(cells=cells)))
    assert any(problem in line for line in problems), problems
