"""The index tracer against torch.einsum and the loops of chapter 3."""

import math
import random

import pytest
import torch

from kit.explorers.einsum import SIZES, einsum_explorer, shown_factors
from tests.built import notebook

PATTERNS = [
    "id,jd->ij",
    "ij,jk->ik",
    "ij,jd->id",
    "i,i->",
    "i,j->ij",
    "ij->ji",
    "ij->i",
    "ii->",
    "nhid,nhjd->nhij",
    "nihd,njhd->nijh",
]
OTHERS = [
    "ii->i",
    "iij->j",
    "ij->",
    "->",
    "i->i",
    "ijk->kji",
    "id,de,je->ij",
    "ab,cd->",
    "nij,njd->nid",
    "ij,lk->ik",
    "jd,je->de",
    "nhij,njhd->nhid",
]

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


@pytest.fixture
def shown(show):
    return show(sample())


def outcome(value):
    """The result as torch computes it, and its factors."""
    left, right = value["equation"].split("->")
    given = [
        torch.tensor(numbers).float().reshape([value["sizes"][a] for a in f])
        for f, numbers in zip(left.split(","), value["numbers"], strict=True)
    ]
    return torch.einsum(value["equation"], *given), given


def assert_as_torch(value):
    expected, given = outcome(value)
    found = torch.tensor(value["out"]).float().reshape(expected.shape)
    torch.testing.assert_close(found, expected)
    cell = expected[tuple(value["cell"])]
    total = 0.0
    for term in value["terms"]:
        numbers = [
            tensor[tuple(where)].item()
            for tensor, where in zip(given, term["where"], strict=True)
        ]
        assert numbers == term["numbers"]
        total += math.prod(numbers)
    assert total == pytest.approx(cell.item(), abs=1e-4)


def random_case(seed):
    """An equation with random letters, sizes, numbers and a cell of it."""
    draw = random.Random(seed)
    letters = draw.sample("abcdefnhij", draw.randint(1, 5))
    parts = [
        "".join(draw.choices(letters, k=draw.randint(0, 4)))
        for _ in range(draw.randint(1, 3))
    ]
    known = sorted(set("".join(parts)))
    kept = draw.sample(known, draw.randint(0, min(4, len(known))))
    sizes = {a: draw.randint(1, 3) for a in known}
    return {
        "equation": f"{','.join(parts)}->{''.join(kept)}",
        "sizes": sizes,
        "numbers": [
            [
                draw.randint(-9, 9)
                for _ in range(math.prod(sizes[a] for a in f))
            ]
            for f in parts
        ],
        "cell": [draw.randrange(sizes[a]) for a in kept],
    }


def test_equations_are_those_of_torch_with_the_numbers_of_the_book(shown):
    equations = PATTERNS + OTHERS
    states = [{"equation": equation} for equation in equations]
    for equation, (value, _) in zip(
        equations, shown.each(states), strict=True
    ):
        assert_as_torch(value)
        _, given = outcome(value)
        for tensor, ours in zip(given, shown_factors(equation), strict=True):
            assert torch.equal(tensor, ours)
        assert value["sizes"] == {a: SIZES.get(a, 2) for a in value["sizes"]}


def test_random_equations_are_those_of_torch(shown, few):
    cases = [random_case(seed) for seed in range(few(60, 10))]
    for case, (value, _) in zip(cases, shown.each(cases), strict=True):
        assert value["cell"] == case["cell"]
        assert_as_torch(value)


# Of each table the numbers, which are lit, and which is picked.
CELLS = """(t) => [...t.querySelectorAll("td")].map((td) =>
  [Number(td.textContent), td.matches(".hit"),
   td.getAttribute("aria-selected") === "true"])"""


def test_the_tables_show_the_numbers_and_what_a_cell_is_made_of(shown):
    for equation in ("id,jd->ij", "ii->", "ij->ji", "i,j->ij", "ijk->kji"):
        value = shown.set(equation=equation, cell=[1, 2, 1])
        expected, given = outcome(value)
        *inputs, result = shown.all("table", CELLS)
        for n, (cells, tensor) in enumerate(zip(inputs, given, strict=True)):
            made_of = torch.zeros_like(tensor, dtype=torch.bool)
            for term in value["terms"]:
                made_of[tuple(term["where"][n])] = True
            numbers, lit, _ = map(torch.tensor, zip(*cells, strict=True))
            assert torch.equal(numbers.float(), in_rows(tensor).flatten())
            assert torch.equal(lit, in_rows(made_of).flatten())
        (picked,) = [number for number, _, is_it in result if is_it]
        assert picked == expected[tuple(value["cell"])]


def in_rows(tensor):
    """Of three axes the second runs down."""
    return tensor.transpose(0, 1) if tensor.dim() == 3 else tensor


def test_four_axes_stand_in_blocks(shown):
    value = shown.set(equation=FOUR, cell=[1, 0, 2, 3])
    blocks = outcome(value)[0].permute(0, 2, 1, 3).reshape(6, 8)
    *_, result = shown.all("table", CELLS)
    found = torch.tensor([float(number) for number, *_ in result])
    assert torch.equal(found.reshape(6, 8), blocks)
    (chosen,) = [n for n, cell in enumerate(result) if cell[2]]
    assert divmod(chosen, 8) == (1 * 3 + 2, 0 * 4 + 3)


def test_pointer_picks_a_cell_and_a_term(shown):
    shown.get("gridcell").nth(7).click()
    assert shown.value["cell"] == [1, 3]
    shown.get("button", "B[3, 1]").click()
    value = shown.value
    assert value["term"] == 1
    numbers = value["terms"][1]["numbers"]
    assert shown.all("td.now") == [str(n) for n in numbers]


def test_the_sum_and_the_loops_say_what_is_shown(shown):
    text, value = shown.text(".sum"), shown.value
    for term in value["terms"]:
        assert " · ".join(map(str, term["numbers"])) in text
    total = value["out"][1 * 4 + 2]
    assert text.rstrip().endswith(f"= {total}")
    assert f"out[1, 2] = {total}" in shown.get("status").all_inner_texts()[-1]
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
    text = "(e) => e.shadowRoot.querySelector('pre').innerText"
    for value, code in shown.each(states, text):
        ours = [
            line.split("  # ")[0].rstrip()
            for line in code.rstrip("\n").split("\n")
        ]
        wanted, *_ = write(value["equation"], **value["sizes"])
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


def test_a_long_sum_is_cut_but_counted(shown):
    shown.set(equation="ijl->")
    assert len(shown.all(".term")) == 16
    assert f"+ {3 * 4 * 4 - 16} more" in shown.text(".sum")


def test_the_question_of_the_chapter_has_this_answer(shown):
    """Rename one j, and rows and columns are summed before they meet."""
    a, b = shown_factors("ij,jk->ik")
    value = shown.set(equation="ij,lk->ik")
    rows = a.sum(dim=1)[:, None] * b.sum(dim=0)
    assert value["out"] == rows.flatten().tolist()
    assert len(value["terms"]) == 16


def test_without_a_script_one_cell_is_written_out(show):
    shown = show(sample(), script=False)
    a, b = shown_factors("id,jd->ij")
    text = shown.text("p")
    assert f"A = {a.int().tolist()}, B = {b.int().tolist()}" in text
    terms = [f"{x:g} · {y:g}" for x, y in zip(a[1], b[2], strict=True)]
    assert text.endswith(f"out[1, 2] = {' + '.join(terms)} = {a[1] @ b[2]:g}")
    cells = shown.all("td")
    assert [int(text) for text in cells] == (a @ b.T).flatten().int().tolist()
