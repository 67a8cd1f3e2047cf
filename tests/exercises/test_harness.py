"""The harness of the checks: what it prints, raises, draws and recognises."""

import inspect
import itertools
import math
import random
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from kit import exercises
from kit.exercises import Draw, Exercise, Wrong, check, expect, judge
from kit.exercises.calls import BOOK
from kit.exercises.contract import (
    CASES,
    asks,
    by_oneself,
    floats,
    hunts,
    made,
    masks,
    one_of,
    padding,
    uses,
    whole,
)
from tools.exercises.tasks import (
    Outcome,
    Task,
    TooSlow,
    limit,
    outcome,
    shown,
    tasks,
    with_given,
)


@pytest.fixture
def asked(monkeypatch):
    """A chapter 99 whose first exercise has the description that is given."""

    def ask(examine, **given):
        described = Exercise(examine.__name__, examine, given)
        monkeypatch.setattr(exercises, "find", lambda which: described)
        return described

    return ask


def double(answer, draw):
    number = draw.whole(3, 9)
    expect.close(answer(number), 2 * number, "it is not twice as much.")


def stub(n):
    raise NotImplementedError


def has_no_such_place(n):
    return [][n]


def gives_torch_a_wrong_shape(n):
    return torch.nn.Linear(2, 2)(torch.zeros(3))


def asks_for_what_torch_lacks(n):
    return torch.zeros(2, dtype=torch.bool).softmax(0)


def says_much(n):
    raise RuntimeError("word " * 100)


@pytest.mark.parametrize(
    "answer, said",
    [
        (lambda n: n + n, r"right\."),
        (lambda n: n * n, r"not yet\. it is not twice as much\. \(seed=3\)"),
        (stub, r"not started\."),
        (
            has_no_such_place,
            "your code stops with IndexError: list index out of range "
            rf"\(line {has_no_such_place.__code__.co_firstlineno + 1} of "
            r"has_no_such_place\)",
        ),
        (gives_torch_a_wrong_shape, r".* of gives_torch_a_wrong_shape\)"),
        (asks_for_what_torch_lacks, ".* stops with NotImplementedError.*"),
        (says_much, ".* RuntimeError: (word ){31}word… .*"),
    ],
)
def test_a_verdict_is_one_line(asked, capsys, answer, said):
    asked(double)
    check("it", answer, seed=3)
    assert re.fullmatch(f"double: {said}\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    "wrong, said",
    [
        (Wrong("no."), "not yet. no."),  # nothing was drawn
        (Wrong("finds 1 of 2.", share=0.5), "finds 1 of 2."),
    ],
)
def test_not_yet_and_the_seed_are_said_where_they_help(
    asked, capsys, wrong, said
):
    def examine(answer, draw):
        raise wrong

    asked(examine)
    check("it", None)
    assert capsys.readouterr().out == f"examine: {said}\n"


def test_strict_raises_in_one_line(asked, monkeypatch):
    monkeypatch.setenv("BOOK_STRICT", "1")
    asked(double)
    check("it", lambda n: 2 * n)
    with pytest.raises(Wrong, match="not twice") as found:
        check("it", lambda n: n)
    assert found.value.share == 0
    assert found.value._render_traceback_() == [f"Wrong: {found.value}"]
    assert found.value.__suppress_context__
    with pytest.raises(exercises.NotStarted, match="not started"):
        check("it", stub)


def test_an_interrupt_goes_through(asked):
    def answer(n):
        raise KeyboardInterrupt

    asked(double)
    with pytest.raises(KeyboardInterrupt):
        check("it", answer)


@pytest.mark.parametrize("which", ["4", "4.99", "99.1", "a.b", 4.1, None])
def test_an_unknown_exercise_is_named(which):
    with pytest.raises(ValueError, match="^which: expected the name of an ex"):
        check(which, lambda: None)


def test_random_numbers_go_on_as_before(asked):
    def greedy(n):
        torch.rand(7)
        return 2 * n

    asked(double)
    torch.manual_seed(5)
    random.seed(5)
    expected = torch.rand(1), random.random()
    torch.manual_seed(5)
    random.seed(5)
    check("it", greedy)
    assert (torch.rand(1), random.random()) == expected


def test_inputs_are_drawn_fresh_and_repeat_by_seed(asked):
    seen = []

    def keep(n):
        seen.append(n)
        return 2 * n

    def wide(answer, draw):
        expect.close(answer(draw.whole(0, 10**9)), 0, "x.")

    asked(wide)
    for _ in range(4):
        check("it", keep)
    assert len(set(seen)) > 1
    check("it", keep, seed=1)
    check("it", keep, seed=1)
    assert seen[-1] == seen[-2]


# Variants.


def test_variant_0_is_the_books():
    described = Exercise("f", None, {"a": (3, 4, 5), "b": ("x", "y")})
    assert described.numbers(0) == {"a": 3, "b": "x"}
    drawn = [described.numbers(n) for n in range(1, 40)]
    assert {d["a"] for d in drawn} == {3, 4, 5}
    assert {d["b"] for d in drawn} == {"x", "y"}
    assert described.numbers(7) == described.numbers(7)


def test_a_variant_reaches_the_description(asked, capsys):
    def examine(answer, draw):
        expect.close(answer(), draw.given.size, "no.")

    described = asked(examine, size=(2, 30))
    for variant in range(5):
        size = described.numbers(variant)["size"]
        check("it", lambda size=size: size, variant=variant)
    assert capsys.readouterr().out == 5 * "examine: right.\n"


def test_given_numbers_are_written_into_text_and_code():
    text = 'Width <span data-given="width">3</span>.'
    code = "width, word = 3, 'a'  # given\nwidth = 3\n"
    numbers = {"width": 8192, "word": "b"}
    assert with_given(text, numbers) == (
        'Width <span data-given="width">8,192</span>.'
    )
    assert with_given(code, numbers) == (
        "width, word = 8192, 'b'  # given\nwidth = 3\n"
    )
    values = 12, 1000, 0.5, "a", True
    assert " ".join(map(shown, values)) == "12 1,000 0.5 a True"


# Draws.


def test_draws_are_what_they_say():
    draw = Draw(0)
    assert not draw.drawn
    assert all(1 <= draw.whole(1, 3) <= 3 for _ in range(50))
    assert draw.drawn
    assert sorted(draw.different(4, 1, 4)) == [1, 2, 3, 4]
    assert draw.normal(2, 3, dtype=torch.float64).dtype == torch.float64
    assert draw.normal(5000).mean().abs() < 0.1
    uniform = draw.uniform(5000)
    assert 0 <= uniform.min() and uniform.max() <= 1
    assert set(draw.ids(2, 4, 100).tolist()) == {2, 3, 4}
    mask = draw.mask(50, 3)
    assert mask.dtype == torch.bool and mask.any(-1).all()
    assert not mask.all()
    assert sorted(draw.shuffled("cab")) == ["a", "b", "c"]


# What is expected.


@pytest.mark.parametrize(
    "got, expected, same",
    [
        (torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]), True),
        (torch.tensor([1.0]), torch.tensor([1.1]), False),
        (torch.tensor([1.0]), torch.tensor([[1.0]]), False),
        (torch.tensor([1]), torch.tensor([1.0]), False),
        (torch.tensor([True]), torch.tensor([1]), False),
        (torch.tensor([1]), [1], True),
        (torch.tensor([math.nan]), torch.tensor([math.nan]), True),
        (0.1 + 0.2, 0.3, True),
        (1.0, 1, True),
        (1, 1.0, False),
        ([1, 0.3], [1, 0.1 + 0.2], True),
        ((1,), [1], False),
        ([1], [1, 2], False),
        ("a", "a", True),
        (True, 1, False),
        (None, 0, False),
    ],
)
def test_what_counts_as_the_same(got, expected, same):
    assert expect.same(got, expected) == same


def test_the_hint_of_the_mistake_that_was_made():
    mistakes = [(torch.zeros(2), "zeros."), (-torch.ones(2), "the sign.")]
    for got, hint in [
        (torch.zeros(2), "zeros."),
        (-torch.ones(2), "the sign."),
        (torch.full((2,), 7.0), "something else."),
        (torch.ones(3), "has the shape"),
        (1.0, "is a float, not a tensor"),
    ]:
        with pytest.raises(Wrong, match=hint):
            expect.close(got, torch.ones(2), "something else.", mistakes)


def test_a_tensor_of_a_kind():
    expect.tensor(torch.ones(2, 3), (2, 3), torch.float32)
    with pytest.raises(Wrong, match="the mask holds float32, not bool"):
        expect.tensor(torch.ones(2), (2,), torch.bool, "the mask")
    with pytest.raises(Wrong, match="is a list"):
        expect.tensor([1])


def test_a_stop_gets_a_hint():
    with pytest.raises(Wrong, match="^why$"), expect.stops("why"):
        raise KeyError("k")
    with pytest.raises(ValueError), expect.stops("why", (KeyError,)):
        raise ValueError
    with pytest.raises(exercises.NotStarted), expect.stops("why"):
        raise NotImplementedError
    with pytest.raises(NotImplementedError), expect.stops("why"):
        raise NotImplementedError("by torch")
    with pytest.raises(Wrong, match="first"), expect.stops("why"):
        raise Wrong("first")


def test_a_refusal_is_expected():
    expect.refusal("no.", lambda: [][0], IndexError)
    with pytest.raises(Wrong, match="no."):
        expect.refusal("no.", lambda: 1, IndexError)


def test_one_thing_is_not_said_as_many():
    said = [expect.plural(number, "row") for number in (0, 1, 2, 1200)]
    assert said == ["0 rows", "1 row", "2 rows", "1,200 rows"]


def borrowed(answer, *forbidden) -> str:
    """What is remarked on an answer that is not to call some functions."""
    return by_oneself(*forbidden)(answer, torch.ones(2, 3))


def in_a_page(source: str, name: str = "answer"):
    """A function as a notebook defines it, with what stands above it."""
    names = {"math": math, "torch": torch, "F": F}
    exec(compile(source, "cell", "exec"), names)
    return names[name]


TORCH = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
PAGE = (BOOK / "lib" / "softmax.py").read_text(encoding="utf-8")
PAGE = PAGE.replace("from . import", "from lib import")


@pytest.mark.parametrize(
    "source",
    [
        "answer = lambda x: torch.softmax(x, -1)",
        "answer = lambda x: x.softmax(-1)",
        "answer = nn.Softmax(-1)\ndef answer(x, soft=answer): soft(x)",
        "def answer(x): nn.Sequential(nn.Softmax(-1))(x)",
        "answer = lambda x, own=F.softmax: own(x, -1)",
        "answer = lambda x: torch.special.softmax(x, -1)",
        "answer = lambda x: torch.ops.aten.softmax(x, -1)",
        "def mine(x): F.softmax(x, -1)\ndef answer(x): mine(x)",
        "answer = torch.no_grad()(lambda x: F.softmax(x, -1))",
        "answer = torch.no_grad()(torch.softmax)\n"
        "def answer(x, soft=answer): soft(x, -1)",
        "def answer(x): next(map(torch.softmax, [x], [-1]))",
        "def answer(x): next(map(torch.Tensor.softmax, [x], [-1]))",
        "from functools import partial\n"
        "def answer(x): partial(torch.softmax, dim=-1)(x)",
        "def answer(x): torch.ops.aten.softmax.int(x, -1)",
        "def answer(x): next(map(torch.ops.aten.softmax, [x], [-1]))",
        "from lib.softmax import softmax as mine\nanswer = lambda x: mine(x)",
        f"{PAGE}\nother = softmax\ndef answer(x): other(x)",
    ],
)
def test_borrowed_work_is_seen_however_it_is_called(source):
    remark = borrowed(in_a_page(TORCH + source), "softmax", "Softmax", "sort")
    assert remark.lower() == "it was to be written without softmax."


@pytest.mark.parametrize(
    "source",
    [
        "def softmax(x): return x\ndef answer(x): softmax(x)",
        "class softmax(nn.Module):\n def forward(self, x): return x\n"
        "def answer(x): softmax()(x)",
        "def answer(x, softmax=0): x.softmax = softmax",
        "from lib.attention import attention\n"
        "def answer(x): attention(x, x, x)",
    ],
)
def test_what_is_ones_own_or_was_not_called_is_not_borrowed(source):
    assert borrowed(in_a_page(TORCH + source), "softmax") == ""


def test_what_a_package_has_can_be_forbidden():
    source = (
        "def answer(x, f=torch.nn.Parameter):\n"
        " with torch.no_grad(): x = f(x)\n"
        " torch.autograd.grad(x.sum(), x)"
    )
    remark = borrowed(in_a_page(TORCH + source), "autograd")
    assert remark == "It was to be written without autograd."


def test_who_leads_to_borrowed_work_is_named_too():
    """A page's own function that is forbidden by its name, say."""
    source = "def fit(x): torch.linalg.lstsq(x, x)\ndef answer(x): fit(x)"
    answer = in_a_page(TORCH + source)
    remark = borrowed(answer, "fit", "lstsq", "rand")
    assert remark == "It was to be written without fit and lstsq."


def test_nobody_listens_any_more_afterwards():
    def hear(*event):
        pass

    before = sys.getprofile()
    sys.setprofile(hear)
    try:
        borrowed(in_a_page("answer = lambda x: x"), "softmax")
        assert sys.getprofile() is hear
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize(
    "source",
    [
        "size = 3\ndef answer(): 0",
        "size = 3\nimport torch\n@torch.no_grad()\ndef answer(): 0",
        "import functools\nsize = 3\n@functools.cache\ndef answer(): 0",
        "import functools\nsize = 3\ndef answer(): 0\n"
        "answer = functools.partial(answer)",
        "size = 3\nclass A:\n def __call__(self): 0\nanswer = A()",
    ],
)
def test_what_stands_beside_an_answer(source):
    assert expect.beside(in_a_page(source), "size") == 3
    assert expect.beside(in_a_page(source), "other") is None
    assert expect.beside(len, "size") is None


RIGHT = {"adds": lambda n: n + n, "doubles": lambda n: 2 * n}
WRONG = {"squares": lambda n: n * n, "adds two": lambda n: n + 2}


@pytest.mark.parametrize(
    "number, hint, share",
    [
        (2, "finds 0 of 2 wrong ones. One that it lets pass squares.", 0),
        (0, "finds 1 of 2 wrong ones. One that it lets pass squares.", 0.5),
    ],
)
def test_a_hunt_counts_what_was_found(number, hint, share):
    def weak(f):
        assert f(number) == 2 * number

    with pytest.raises(Wrong) as found:
        expect.kills_mutants(weak, RIGHT, WRONG, random.Random(0))
    assert (found.value.hint, found.value.share) == (hint, share)


def test_a_check_may_not_refuse_what_is_right():
    def too_strict(f):
        assert f(3) == 7

    def broken(f):
        raise NotImplementedError("by torch")

    with pytest.raises(Wrong, match="refuses a right one, that adds"):
        expect.kills_mutants(too_strict, RIGHT, WRONG, random.Random(0))
    with pytest.raises(Wrong, match="refuses a right one"):
        expect.kills_mutants(broken, RIGHT, WRONG, random.Random(0))
    with pytest.raises(NotImplementedError):
        expect.kills_mutants(stub, RIGHT, WRONG, random.Random(0))


def test_who_counts_finds_nothing_out():
    for seed in range(9):
        calls = itertools.count()

        def counts(f, calls=calls):
            assert next(calls) < 2

        with pytest.raises(Wrong):
            expect.kills_mutants(counts, RIGHT, WRONG, random.Random(seed))


# Outcomes, as tests and mutants see them.


@pytest.fixture
def window() -> Task:
    return next(task for task in tasks() if task.name == "window_mask")


def test_what_is_no_answer_is_not_called_wrong(window):
    with pytest.raises(NameError):
        outcome(window, "def window_mask(length, width):\n    return torhc")
    with pytest.raises(SyntaxError):
        outcome(window, "def window_mask(length, width) return")


def test_an_answer_that_stops_is_told_apart(window):
    stops = "def window_mask(length, width):\n    return [][0]"
    assert outcome(window, stops).kind == "stopped"
    assert outcome(window, window.solution) == Outcome("right", "", 1.0)


def test_what_never_ends_is_stopped():
    with pytest.raises(TooSlow), limit(0.05):
        while True:
            try:
                while True:
                    pass
            except Exception:
                continue


# The contract.


@asks(
    {"q": floats("i d"), "k": floats("j d"), "v": floats("j e")},
    "these are not the weighted means.",
    {
        "the scores are not scaled.": lambda q, k, v: (
            (q @ k.mT).softmax(-1) @ v
        ),
        "the queries compete.": lambda q, k, v: (
            (q @ k.mT / q.shape[-1] ** 0.5).softmax(0) @ v
        ),
    },
    ways=(by_oneself("scaled_dot_product_attention"), uses("exp", "No exp?")),
)
def mean(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def plainly(q, k, v):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    shares = (scores - scores.amax(-1, keepdim=True)).exp()
    return shares @ v / shares.sum(-1, keepdim=True)


def verdict(asked, answer, seed=0) -> str:
    try:
        return judge(asked, answer, Draw(seed)) or "right"
    except Wrong as wrong:
        return wrong.hint


def test_what_agrees_in_all_cases_is_right():
    for seed in range(20):
        assert verdict(mean, plainly, seed) == "right"


SDPA = "F.scaled_dot_product_attention(q, k, v)"


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({" / math.sqrt(q.shape[-1])": ""}, "the scores are not scaled."),
        ({"q.shape[-1]": "len(k)"}, "right at first, but not for d = "),
        ({"q.shape[-1]": "7"}, "not the weighted means."),
        ({" - scores.amax(-1, keepdim=True)": ""}, "300 times as large"),
        ({"amax(-1, keepdim=True)": "amax()"}, "300 times as large"),
        ({"q @ k": "q.float() @ k.float()"}, "in float64"),
        ({"k.mT": "k.view(len(k), -1).mT"}, "right"),
        ({"q @ k": "q.view(-1).view_as(q) @ k"}, "not contiguous"),
        ({" / math": ".squeeze() / math"}, "if every axis has length 1"),
        (
            {"    scores =": "    q *= 1.5\n    scores ="},
            "its input q in place",
        ),
        (
            {"    scores =": "    torch.manual_seed(0)\n    scores ="},
            "sets the seed",
        ),
        (
            {"    sh": "    torch.set_grad_enabled(1 < 0)\n    sh"},
            "changes a setting of torch",
        ),
        ({"shares @ v": "torch.rand(()) + shares @ v"}, "a second time"),
        ({"(-1, keepdim=True)\n": "(0)[0]\n"}, "not the weighted means."),
    ],
)
def test_each_case_finds_a_mistake_of_its_own(changes, hint):
    source = inspect.getsource(plainly)
    for old, new in changes.items():
        assert old in source
        source = source.replace(old, new)
    assert hint in verdict(mean, in_a_page(source, "plainly"))


def test_a_way_is_remarked_and_costs_nothing(asked, capsys, monkeypatch):
    monkeypatch.setattr(exercises, "find", lambda which: mean)
    check("it", in_a_page(f"def answer(q, k, v): return {SDPA}"))
    assert capsys.readouterr().out == (
        "mean: right. It was to be written without "
        "scaled_dot_product_attention. No exp?\n"
    )
    check("it", plainly)
    assert capsys.readouterr().out == "mean: right.\n"


def test_masks_are_drawn_as_they_say():
    case = replace(CASES["first"], sizes={"n": 40, "i": 3, "j": 5})
    mask = masks("n 1 i j").drawn(Draw(0), case)
    assert mask.shape == (40, 1, 3, 5) and mask.dtype == torch.bool
    assert mask.any(-1).all() and not mask.all()
    empty = masks("n 1 i j", has_empty=True).drawn(Draw(0), case)
    assert not empty.any(-1).all() and empty.any()
    behind = padding("n j").drawn(Draw(0), case)
    assert (behind.int().diff() <= 0).all() and behind.any(-1).all()
    front = padding("n j").drawn(Draw(0), replace(case, pads="in front"))
    assert front.equal(behind.flip(-1))
    anywhere = padding("n j").drawn(Draw(0), replace(case, pads="anywhere"))
    assert (anywhere.int().diff() > 0).any() and (anywhere < front).any()


def small_layer(draw, case):
    return torch.nn.Linear(3, case.sizes["e"], bias=False).to(case.dtype)


@asks(
    {
        "layer": made(small_layer, "e", is_floating=True),
        "x": made(lambda draw, case: draw.normal(2, 3, dtype=case.dtype)),
        "twice": one_of(True, False),
    },
    "it is something else.",
    {"it is to be done twice.": lambda layer, x, twice: lambda: layer(x)},
    calls=lambda answer, *inputs: answer(*inputs)(),
)
def layered(layer, x, twice):
    return lambda: (1 + twice) * layer(x)


def in_a_new_layer(layer, x, twice):
    """It draws random numbers, and does not use them."""
    mine = torch.nn.Linear(*layer.weight.T.shape, bias=False)
    mine.load_state_dict(layer.state_dict())
    return lambda: (1 + twice) * F.linear(x, layer.weight)


def in_training(layer, x, twice):
    layer.eval()
    return layered.examine.reference(layer, x, twice)


def in_place(layer, x, twice):
    layer.weight.data *= 1 + twice
    return lambda: layer(x)


@pytest.mark.parametrize(
    "answer, hint",
    [
        (lambda layer, x, twice: lambda: layer(x), "it is to be done twice"),
        (lambda layer, x, twice: lambda: 2 * layer(x), "right at first, but"),
        (in_training, "your code changes its input layer"),
        (in_place, "your code changes its input layer"),
    ],
)
def test_a_module_is_as_it_was_and_what_comes_back_is_called(answer, hint):
    for seed in range(5):
        judge(layered, in_a_new_layer, Draw(seed))
        with pytest.raises(Wrong, match=hint):
            judge(layered, answer, Draw(seed))


def told(expected, answer) -> str:
    """What an answer is told where a value is asked for."""

    @asks({"given": made(lambda draw, case: {"a": [1]})}, "look again.")
    def value(given):
        return expected

    return verdict(value, answer)


@pytest.mark.parametrize(
    "expected, got, hint",
    [
        (3, np.int64(3), "right"),
        (3, np.int64(4), "look again"),
        (3, np.float64(3), "a whole number is asked for, and yours is a fl"),
        (0.5, np.float32(0.5), "right"),
        (0.5, torch.tensor(0.5), "right"),
        (0.5, [0.5], "a number is asked for, and yours is a list."),
        (0.5, True, "a number is asked for, and yours is a bool."),
        (True, np.True_, "right"),
        ({"a": 0.3}, {"a": 0.1 + 0.2}, "right"),
        ({"a": 0.3, "b": 1}, {"b": 1, "a": 0.3}, "right"),
        ({"a": 0.3}, {"a": 0.4}, "look again"),
        ({"a": 0.3}, {"b": 0.3}, "look again"),
        ({"a": 0.3}, [0.3], "a dictionary is asked for, and yours is a list."),
        ([3], 3, "a list is asked for, and yours is an int."),
        ([3, 4], [3], "look again"),
        ((3, 4), [3], "your code returns other than 2 values."),
        ([3, 4], np.array([3, 4]), "a list is asked for, and yours is a nd"),
    ],
)
def test_what_may_stand_for_what(expected, got, hint):
    assert hint in told(expected, lambda given: got)


def test_a_dictionary_stays_as_it_was():
    for change in (
        lambda given: given.update(b=2),
        lambda given: given["a"].append(1),
    ):
        assert "its input given in place" in told(None, change)


def test_what_has_no_floats_is_tried_with_four_sets_of_numbers():
    tried = []

    @asks({"n": whole(1, 10**6, given="n")}, "no.", n=(7,))
    def same(n):
        return n

    judge(same, lambda n: tried.append(n) or n, Draw(0, n=7))
    assert tried[0] == 7 and len(set(tried)) == 4


def test_after_the_number_of_the_task_comes_another():
    again = replace(CASES["again"], sizes={})
    drawn = {
        whole(1, 2, given="n").drawn(Draw(s, n=1), again) for s in range(9)
    }
    assert drawn == {2}


def test_a_hunt_is_for_the_wrong_ones():
    def demand(answer):
        expect.that(answer.__doc__, "say what you test.")

    @hunts(demand)
    def finds(draw):
        return {"doubles": lambda n: 2 * n}, {"squares": lambda n: n * n}

    def answer(double):
        assert double(3) == 6

    def careless(double):
        """Two is not enough."""
        assert double(2) == 4

    with pytest.raises(Wrong, match="say what you test"):
        judge(finds, answer, Draw(0))
    answer.__doc__ = "Twice."
    judge(finds, answer, Draw(0))
    with pytest.raises(Wrong, match="finds 0 of 1 wrong ones"):
        judge(finds, careless, Draw(0))
