"""The index tracer against torch.einsum and the loops of chapter 3."""

import math
import random
from itertools import product

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


def terms_of(equation, cell):
    """The numbers that are multiplied, and where they stand, by the rule."""
    left, right = equation.split("->")
    summed = [a for a in dict.fromkeys(left) if a not in right + ","]
    for along in product(*(range(SIZES.get(a, 2)) for a in summed)):
        at = dict(zip([*right, *summed], [*cell, *along], strict=True))
        yield [tuple(at[a] for a in letters) for letters in left.split(",")]


def agrees(equation, cell, found):
    """Tables and sum are those of torch, with the numbers of the book."""
    factors = shown_factors(equation)
    out = torch.einsum(equation, *factors)
    terms = [*terms_of(equation, cell)]
    *tables, result = found["tables"]
    for n, (cells, tensor) in enumerate(zip(tables, factors, strict=True)):
        hit = torch.zeros_like(tensor)
        for where in terms:
            hit[where[n]] = 1
        numbers, lit, _ = zip(*cells, strict=True)
        assert [*numbers] == in_rows(tensor).tolist()
        assert [*lit] == in_rows(hit > 0).tolist()
    chosen = torch.zeros_like(out)
    chosen[tuple(cell)] = 1
    numbers, _, is_it = zip(*result, strict=True)
    assert [*numbers] == in_rows(out).tolist()
    assert [*is_it] == in_rows(chosen > 0).tolist()
    written = [
        " · ".join(
            f"{tensor[place]:.0f}"
            for tensor, place in zip(factors, where, strict=True)
        )
        for where in terms
    ]
    assert found["terms"] == written[:16]
    assert (f"+ {len(terms) - 16} more" in found["sum"]) == (len(terms) > 16)
    total = f"= {out[tuple(cell)]:.0f}"
    assert found["sum"].endswith(total)
    assert found["said"].endswith(f"{total}, terms: {len(terms)}")


def test_equations_are_those_of_torch_with_the_numbers_of_the_book(shown):
    draw, states = random.Random(0), []
    for equation in PATTERNS + OTHERS:
        sizes = [SIZES.get(a, 2) for a in equation.partition("->")[2]]
        cell = [draw.randrange(size) for size in sizes]
        states.append({"equation": equation, "cell": cell})
    for state, found in zip(states, shown.each(states, READ), strict=True):
        agrees(**state, found=found)


def test_pointer_picks_a_cell_and_a_term(shown):
    shown.get("gridcell").nth(7).click()
    assert shown.value["cell"] == [1, 3]
    shown.get("button", "B[3, 1]").click()
    assert shown.value["term"] == 1
    numbers = shown.all(".term .number")[1]
    assert shown.all("td.now") == numbers.split(" · ")


def test_the_loops_say_what_is_shown(shown):
    code = shown.text("pre")
    assert "for i in range(3):  # i = 1\n" in code
    assert "for d in range(2):  # all\n" in code


def write_loops():
    """The function of chapter 3 that writes loops."""
    cells = notebook("book/03_scoring_with_einsum").cells
    sources = [cell.source for cell in cells]
    (source,) = [s for s in sources if s.startswith("def write_loops")]
    names = {"math": math}
    exec(source, names)
    return names["write_loops"]


def test_the_loops_are_those_that_the_chapter_writes(shown):
    write = write_loops()
    states = [{"equation": equation} for equation in PATTERNS + OTHERS]
    for state, found in zip(states, shown.each(states, READ), strict=True):
        lines = found["loops"].rstrip("\n").split("\n")
        ours = [line.split("  # ")[0].rstrip() for line in lines]
        sizes = {a: SIZES.get(a, 2) for a in state["equation"] if a.isalpha()}
        wanted, *_ = write(state["equation"], **sizes)
        assert ours == wanted.replace("[]", "").split("\n")


TYPED = {
    "ij,jk->ik": "",
    " ij , jk -> ki ": "",
    "ij,jk": "A letter for each axis",
    "ij,jk->iz": "No factor has the letter z.",
    "ij,jk->ii": "The letter i stands twice on the right.",
    "IJ->JI": "A letter for each axis",
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
        assert bool(message) == bool(expected)
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
