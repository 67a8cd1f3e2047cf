"""The index tracer against torch.einsum and the loops of chapter 3."""

import math
import random

import torch

from kit.explorers.einsum import SIZES, einsum_explorer, shown_factors
from tests.built import notebook

PATTERNS = """id,jd->ij ij,jk->ik ij,jd->id i,i-> i,j->ij ij->ji ij->i ii->
    nhid,nhjd->nhij nihd,njhd->nijh""".split()
OTHERS = """ii->i iij->j ij-> -> i->i ijk->kji id,de,je->ij ab,cd->
    nij,njd->nid ij,lk->ik jd,je->de nhij,njhd->nhid""".split()
FOUR = "nhid,nhjd->nhij"
KEYS = [
    ("Tab Tab Tab Tab ArrowDown", {"cell": [2, 2]}),
    ("ArrowRight ArrowRight", {"cell": [2, 3]}),
    ("Home ArrowUp", {"cell": [1, 0]}),
    ("Tab Enter", {"term": 0}),
    ("", "A[1, 0] · B[0, 0]"),
    ("Enter", {"term": None}),
    # Arrows walk through blocks as they stand.
    ({"equation": FOUR, "cell": [0, 0, 2, 3]}, {"cell": [0, 0, 2, 3]}),
    ("Tab Shift+Tab Shift+Tab ArrowDown", {"cell": [1, 0, 0, 3]}),
    ("ArrowRight", {"cell": [1, 1, 0, 0]}),
    ("PageDown End ArrowDown", {"cell": [1, 1, 2, 3]}),
]
SAYS = [
    (
        {"equation": "ij,lk->ik"},
        ".rule",
        "i and k stand on the right: a cell of out for each i and k. j and l "
        "are missing there: a sum over j and l, of 16 terms.",
    ),
    (
        {"equation": "ij->ji"},
        ".rule",
        "j and i stand on the right: a cell of out for each j and i. No "
        "letter is missing there: nothing is summed.",
    ),
]


def sample():
    return einsum_explorer()


# Of each cell its number, whether it is in the sum, and whether it is chosen.
READ = """({ shadowRoot: root }) => ({
  tables: [...root.querySelectorAll("table")].map((table) =>
    [...table.querySelectorAll("td")].map((td) => [Number(td.innerText),
      td.matches(".hit"), td.matches("[aria-selected=true]")])),
  terms: [...root.querySelectorAll(".term .number")].map((e) => e.innerText),
  sum: root.querySelector(".sum").innerText,
  said: [...root.querySelectorAll("[role=status]")].at(-1).innerText,
  loops: root.querySelector("pre").innerText,
})"""


def in_rows(tensor):
    """As it is shown: of three axes the second runs down, of four the third
    runs down in blocks."""
    axes = {3: (1, 0, 2), 4: (0, 2, 1, 3)}.get(tensor.dim())
    return (tensor.permute(axes) if axes else tensor).flatten()


def agrees(equation, cell, found):
    """Tables and sum are those of torch, with the numbers of the book."""
    factors, cell = shown_factors(equation), tuple(cell)
    out = torch.einsum(equation, *factors)
    # What a cell is made of is what has a gradient from there.
    ones = [torch.ones(f.shape, requires_grad=True) for f in factors]
    count = torch.einsum(equation, *ones)[cell]
    count.backward()
    *tables, result = found["tables"]
    for cells, tensor, one in zip(tables, factors, ones, strict=True):
        numbers, lit, _ = zip(*cells, strict=True)
        assert [*numbers] == in_rows(tensor).tolist()
        assert [*lit] == in_rows(one.grad > 0).tolist()
    chosen = torch.zeros_like(out)
    chosen[cell] = 1
    numbers, _, is_it = zip(*result, strict=True)
    assert [*numbers] == in_rows(out).tolist()
    assert [*is_it] == in_rows(chosen > 0).tolist()
    terms = [math.prod(map(int, t.split(" · "))) for t in found["terms"]]
    assert len(terms) == min(16, count)
    assert (f"+ {count - 16:.0f} more" in found["sum"]) == (count > 16)
    if count <= 16:
        assert sum(terms) == out[cell]
    total = f"= {out[cell]:.0f}"
    assert found["sum"].endswith(total)
    assert found["said"].endswith(f"{total}, terms: {count:.0f}")


def write_loops():
    """The function of chapter 3 that writes loops."""
    cells = notebook("book/deeper/03_einsum").cells
    sources = [cell.source for cell in cells]
    (source,) = [s for s in sources if s.startswith("def write_loops")]
    names = {"math": math}
    exec(source, names)
    return names["write_loops"]


def test_equations_are_those_of_torch_with_the_numbers_of_the_book(shown):
    """And the loops are those that the chapter writes."""
    draw, write, states = random.Random(0), write_loops(), []
    for equation in PATTERNS + OTHERS:
        sizes = [SIZES.get(a, 2) for a in equation.partition("->")[2]]
        cell = [draw.randrange(size) for size in sizes]
        states.append({"equation": equation, "cell": cell})
    for state, found in zip(states, shown.each(states, READ), strict=True):
        agrees(**state, found=found)
        equation, lines = state["equation"], found["loops"].rstrip("\n")
        ours = [x.split("  # ")[0].rstrip() for x in lines.split("\n")]
        sizes = {a: SIZES.get(a, 2) for a in equation if a.isalpha()}
        wanted, *_ = write(equation, **sizes)
        assert ours == wanted.replace("[]", "").split("\n")


def test_pointer_picks_a_cell_and_a_term(shown):
    shown.get("gridcell").nth(7).click()
    assert shown.value["cell"] == [1, 3]
    code = shown.text("pre")
    assert "for i in range(3):  # i = 1\n" in code
    assert "for d in range(2):  # all\n" in code
    shown.get("button", "B[3, 1]").click()
    assert shown.value["term"] == 1
    numbers = shown.all(".term .number")[1]
    assert shown.all("td.now") == numbers.split(" · ")


TYPED = {
    "ij,jk->ik": "",
    " ij , jk -> ki ": "",
    "ij,jk": "A small letter for each axis",
    "ij,jk->iz": "No factor has the letter z.",
    "ij,jk->ii": "The letter i stands twice on the right.",
    "IJ->JI": "A small letter for each axis",
    "i,j,k,l->ijkl": "At most three factors",
    "ijkln->i": "At most three factors",
    "abc,def,gh->a": "At most three factors",
}


def test_an_equation_is_typed_and_a_wrong_one_is_explained(shown):
    box, kept = shown.get("textbox", "equation"), "id,jd->ij"
    for text, expected in TYPED.items():
        box.fill(text)
        message = shown.text("#wrong")
        assert message.startswith(expected), text
        shown_still = f"Still shown: {kept}." if expected else ""
        assert message.endswith(shown_still) and bool(message) == bool(
            expected
        )
        assert (box.get_attribute("aria-invalid") == "true") == bool(message)
        kept = kept if message else text.replace(" ", "")
        assert shown.value["equation"] == kept
        listed = kept if kept in PATTERNS else ""
        assert shown.get("combobox").input_value() == listed


def test_a_pattern_is_chosen_from_the_list(shown):
    assert shown.all("option", "(o) => o.value") == [*PATTERNS, ""]
    shown.get("combobox").select_option("trace")
    assert shown.value["equation"] == "ii->"
    assert shown.get("textbox").input_value() == "ii->"
    shown.get("combobox").select_option("your own")
    assert shown.probe("active") == "equation"
