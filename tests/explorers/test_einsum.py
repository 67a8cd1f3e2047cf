"""The index tracer against torch.einsum and the loops of chapter 3."""

import math
import random

import nbformat
import pytest
import torch

from kit.explorers.einsum import SIZES, einsum_explorer, shown_factors
from tests.site.conftest import ROOT

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

STATES = [
    *({"equation": equation} for equation in PATTERNS + OTHERS),
    {"equation": "nhid,nhjd->nhij", "cell": [1, 1, 2, 3], "term": 1},
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


def tables(shown):
    """Of each table the numbers, which are lit, and which is picked."""
    return shown.element.evaluate(
        """(e) => [...e.shadowRoot.querySelectorAll("table")].map((t) =>
          [...t.querySelectorAll("td")].map((td) =>
            [Number(td.textContent), td.matches(".hit"),
             td.getAttribute("aria-selected") === "true"]))"""
    )


def test_the_tables_show_the_numbers_and_what_a_cell_is_made_of(shown):
    for equation in ("id,jd->ij", "ii->", "ij->ji", "i,j->ij", "ijk->kji"):
        shown.set(equation=equation, cell=[1, 2, 1])
        value = shown.value
        expected, given = outcome(value)
        *inputs, result = tables(shown)
        for n, (cells, tensor) in enumerate(zip(inputs, given, strict=True)):
            in_rows = tensor.transpose(0, 1) if tensor.dim() == 3 else tensor
            numbers, lit, _ = map(torch.tensor, zip(*cells, strict=True))
            assert torch.equal(numbers.float(), in_rows.flatten())
            made_of = torch.zeros_like(tensor, dtype=torch.bool)
            for term in value["terms"]:
                made_of[tuple(term["where"][n])] = True
            if tensor.dim() == 3:
                made_of = made_of.transpose(0, 1)
            assert torch.equal(lit, made_of.flatten())
        (picked,) = [number for number, _, is_it in result if is_it]
        assert picked == expected[tuple(value["cell"])]


def test_four_axes_stand_in_blocks(shown):
    value = shown.set(equation="nhid,nhjd->nhij", cell=[1, 0, 2, 3])
    blocks = outcome(value)[0].permute(0, 2, 1, 3).reshape(6, 8)
    *_, result = tables(shown)
    found = torch.tensor([float(number) for number, *_ in result])
    assert torch.equal(found.reshape(6, 8), blocks)
    (chosen,) = [n for n, cell in enumerate(result) if cell[2]]
    assert divmod(chosen, 8) == (1 * 3 + 2, 0 * 4 + 3)


def test_a_cell_and_a_term_are_picked_with_the_keyboard_alone(shown):
    shown.press("Tab", "Tab", "Tab", "Tab")
    assert shown.focused() == str(shown.value["out"][1 * 4 + 2])
    shown.press("ArrowDown", "ArrowRight", "ArrowRight")
    assert shown.value["cell"] == [2, 3]
    shown.press("Home", "ArrowUp")
    assert shown.value["cell"] == [1, 0]
    shown.press("Tab", "Enter")
    assert shown.value["term"] == 0
    assert shown.focused().startswith("A[1, 0] · B[0, 0]")
    shown.press("Enter")
    assert shown.value["term"] is None


def test_arrows_walk_through_blocks_as_they_stand(shown):
    shown.set(equation="nhid,nhjd->nhij", cell=[0, 0, 2, 3])
    shown.element.locator("[aria-selected=true]").focus()
    shown.press("ArrowDown")
    assert shown.value["cell"] == [1, 0, 0, 3]
    shown.press("ArrowRight")
    assert shown.value["cell"] == [1, 1, 0, 0]
    shown.press("PageDown", "End", "ArrowDown")
    assert shown.value["cell"] == [1, 1, 2, 3]


def test_pointer_picks_a_cell_and_a_term(shown):
    shown.get("gridcell").nth(7).click()
    assert shown.value["cell"] == [1, 3]
    shown.get("button", "B[3, 1]").click()
    value = shown.value
    assert value["term"] == 1
    strong = shown.element.locator("td.now")
    assert strong.count() == 2
    assert strong.all_inner_texts() == [
        str(n) for n in value["terms"][1]["numbers"]
    ]


def test_the_sum_and_the_loops_say_what_is_shown(shown):
    text = shown.element.locator(".sum").inner_text()
    value = shown.value
    for term in value["terms"]:
        assert " · ".join(map(str, term["numbers"])) in text
    total = value["out"][1 * 4 + 2]
    assert text.rstrip().endswith(f"= {total}")
    assert f"out[1, 2] = {total}" in shown.get("status").all_inner_texts()[-1]
    code = shown.element.locator("pre").inner_text()
    assert "for i in range(3):  # i = 1\n" in code
    assert "for d in range(2):  # all\n" in code


def write_loops():
    """The function of chapter 3 that writes loops."""
    page = nbformat.read(
        ROOT / "book/03_scoring_with_einsum.ipynb", as_version=4
    )
    (source,) = [
        c.source for c in page.cells if c.source.startswith("def write_loops")
    ]
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
        message = shown.element.locator("#wrong").inner_text()
        assert message.startswith(expected), text
        assert bool(message) == bool(expected)
        assert (box.get_attribute("aria-invalid") == "true") == bool(message)
        kept = kept if message else text.replace(" ", "")
        assert shown.value["equation"] == kept
        listed = kept if kept in PATTERNS else ""
        assert shown.get("combobox").input_value() == listed


def test_what_has_no_meaning_is_refused_by_torch_too():
    for text, message in TYPED.items():
        if "letter" in message and "->" in text and text.islower():
            shapes = [[2] * len(f) for f in text.split("->")[0].split(",")]
            with pytest.raises(RuntimeError):
                torch.einsum(text, *map(torch.ones, shapes))


def test_a_pattern_is_chosen_from_the_list(shown):
    listed = (
        shown.get("combobox")
        .locator("option")
        .evaluate_all("(all) => all.map((option) => option.value)")
    )
    assert listed == [*PATTERNS, ""]
    shown.get("combobox").select_option("trace")
    assert shown.value["equation"] == "ii->"
    assert shown.get("textbox").input_value() == "ii->"
    shown.get("combobox").select_option("your own")
    assert shown.focused() == "equation"


def test_a_long_sum_is_cut_but_counted(shown):
    shown.set(equation="ijl->")
    assert shown.element.locator(".term").count() == 16
    text = shown.element.locator(".sum").inner_text()
    assert f"+ {3 * 4 * 4 - 16} more" in text


def test_the_question_of_the_chapter_has_this_answer(shown):
    """Rename one j, and rows and columns are summed before they meet."""
    a, b = shown_factors("ij,jk->ik")
    value = shown.set(equation="ij,lk->ik")
    rows = a.sum(dim=1)[:, None] * b.sum(dim=0)
    assert value["out"] == rows.flatten().tolist()
    assert len(value["terms"]) == 16


FAULTS = {
    "the sum begins at 1": ("(a, b) => a + b, 0", "(a, b) => a + b, 1"),
    "factors are added": (
        "product(term.numbers)",
        "total(term.numbers)",
    ),
    "axes are read from the wrong end": (
        "at * sizes[axis] + n",
        "at + n * sizes[axis]",
    ),
    "a letter that stays is summed": (
        "letters.slice(right.length)",
        "letters.slice(right.length - 1)",
    ),
    "every factor is the first": ("f.numbers[flat", "factors[0].numbers[flat"),
}


def check(shown):
    for value, _ in shown.each([{"equation": text} for text in PATTERNS]):
        assert_as_torch(value)


def test_without_a_script_one_cell_is_written_out(show):
    shown = show(sample(), script=False)
    a, b = shown_factors("id,jd->ij")
    text = shown.element.locator("p").inner_text()
    assert f"A = {a.int().tolist()}, B = {b.int().tolist()}" in text
    terms = [f"{x:g} · {y:g}" for x, y in zip(a[1], b[2], strict=True)]
    assert text.endswith(f"out[1, 2] = {' + '.join(terms)} = {a[1] @ b[2]:g}")
    cells = shown.element.locator("td").all_inner_texts()
    assert [int(text) for text in cells] == (a @ b.T).flatten().int().tolist()
