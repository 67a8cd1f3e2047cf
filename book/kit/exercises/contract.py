"""What an exercise asks, as data: inputs, a reference, known mistakes.

    @asks(
        {"q": floats("i d"), "k": floats("j d")},
        "the dot product of every query with every key.",
        {"queries are the rows, and keys the columns.": keys_first},
    )
    def scores(q, k):
        return q @ k.mT

reads as the specification. The function is the reference; an answer must
agree with it in every case of `stress`, as well as the precision of the
numbers allows. Where it does not, it is compared with the values of the
mistakes, each known by its hint. Not taught.
"""

import copy
import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from kit.exercises import expect
from kit.exercises.calls import Calls, stopped
from kit.exercises.draw import Draw
from kit.exercises.verdict import NotStarted, Wrong
from lib.runtime import device

ROOM = 16  # times the rounding error of the reference may be an answer's
JUMP = 1e-2  # of its size, is no error of rounding
CLOSE = 1e-3  # of its size, by which a mistake is recognised
SHAKES = 4  # tries that show how far an error of the inputs goes
FAR = 300.0  # scores are then 90,000 times as large: exponentials overflow
Inputs = dict[str, object]


# What an exercise is.


@dataclass(frozen=True)
class Exercise:
    """What is asked, without a solution.

    `given` holds for each name the values that a student may get; the first
    are the book's.
    """

    name: str
    examine: Callable
    given: dict[str, tuple]

    def numbers(self, variant: int) -> dict:
        """What a variant of the exercise is given; 0 is the book's."""
        if variant == 0:
            return {name: values[0] for name, values in self.given.items()}
        lot = random.Random(f"{self.name} {variant}")
        return {name: lot.choice(v) for name, v in self.given.items()}


def hunts(*also: Callable, **given: tuple) -> Callable[[Callable], Exercise]:
    """Register a hunt: the answer is a check of the reader's own.

    The function draws the implementations that this check is tried on, by
    what each does: those that are right, and those that are wrong. `also`
    are functions of the answer that raise `Wrong` before.
    """

    def register(build: Callable) -> Exercise:
        def examine(answer: Callable, draw: Draw) -> None:
            for demand in also:
                demand(answer)
            expect.kills_mutants(answer, *build(draw), draw.lots)

        return Exercise(build.__name__, examine, given)

    return register


# What is drawn.


@dataclass(frozen=True)
class Case:
    """Under which circumstances an answer is tried."""

    when: str = ""  # "for one row"; the first case has no name
    dtype: torch.dtype = torch.float32
    length: int | None = None  # of every axis
    times: float = 1.0
    is_contiguous: bool = True
    is_given: bool = False  # numbers are those of the task
    pads: str = "anywhere"  # where padding stands: also "behind", "in front"
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class floats:
    """A tensor of normal numbers: `floats("n i h*d")`.

    Equal letters are equal sizes.
    """

    letters: str

    def drawn(self, draw: Draw, case: Case) -> Tensor:
        shape = lengths(self.letters, case)
        x = draw.normal(*shape, dtype=case.dtype) * case.times
        if case.is_contiguous or x.ndim < 2:
            return x
        return x.mT.contiguous().mT


@dataclass(frozen=True)
class ids:
    """Whole numbers below the size that a letter has."""

    letters: str
    below: str

    def drawn(self, draw: Draw, case: Case) -> Tensor:
        shape = lengths(self.letters, case)
        return draw.ids(0, case.sizes[self.below] - 1, *shape)


@dataclass(frozen=True)
class masks:
    """True where a query may attend: `masks("n 1 i j")`.

    `has_empty`: in some rows, the first one at least, it is True nowhere.
    """

    letters: str
    has_empty: bool = False

    def drawn(self, draw: Draw, case: Case) -> Tensor:
        mask = draw.mask(*lengths(self.letters, case))
        if self.has_empty:
            mask &= draw.uniform(*mask.shape[:-1], 1) < 0.7
            mask.view(-1, mask.shape[-1])[0] = False
        return mask


@dataclass(frozen=True)
class padding(masks):
    """True at real tokens: `padding("n j")`.

    Padding stands behind them at first, then in front, then anywhere.
    """

    def drawn(self, draw: Draw, case: Case) -> Tensor:
        shape = lengths(self.letters, case)
        lengths_of = draw.ids(1, shape[-1], *shape[:-1], 1)
        if self.has_empty:
            lengths_of.view(-1)[0] = 0
        real = torch.arange(shape[-1], device=device()) < lengths_of
        if case.pads == "behind":
            return real
        if case.pads == "in front":
            return real.flip(-1)
        return real[..., torch.randperm(shape[-1], generator=draw.generator)]


@dataclass(frozen=True)
class made:
    """What `make(draw, case)` returns: a module, a text, a list of rows.

    The letters are those whose sizes it uses. A floating one is made in
    `case.dtype`, for all cases.
    """

    make: Callable[[Draw, Case], object]
    letters: str = ""
    is_floating: bool = False

    def drawn(self, draw: Draw, case: Case) -> object:
        return self.make(draw, case)


class several:
    """A list of what other kinds draw."""

    def __init__(self, *kinds: object) -> None:
        self.kinds = kinds
        self.letters = " ".join(kind.letters for kind in kinds)

    def drawn(self, draw: Draw, case: Case) -> list:
        return [kind.drawn(draw, case) for kind in self.kinds]


@dataclass(frozen=True)
class size:
    """The size of a letter, or a product of several: `size("h*d")`."""

    letters: str

    def drawn(self, draw: Draw, case: Case) -> int:
        return lengths(self.letters, case)[0]


class one_of:
    """A value of several: the first one at first, then another one."""

    letters = ""

    def __init__(self, *values: object) -> None:
        self.values = values

    def drawn(self, draw: Draw, case: Case) -> object:
        if case.is_given:
            return self.values[0]
        is_second = case.pads == "in front"
        return draw.lots.choice(self.values[is_second:])


@dataclass(frozen=True)
class whole:
    """A whole number; at first that of the task, if any, then another."""

    low: float
    high: float
    given: str = ""
    letters = ""

    def drawn(self, draw: Draw, case: Case) -> float:
        given = getattr(draw.given, self.given) if self.given else None
        if self.given and case.is_given:
            return given
        while (number := self.some(draw)) == given:
            pass
        return number

    def some(self, draw: Draw) -> float:
        return draw.whole(self.low, self.high)


class between(whole):
    """A number, whole or not."""

    def some(self, draw: Draw) -> float:
        return draw.lots.uniform(self.low, self.high)


def lengths(letters: str, case: Case) -> list[int]:
    """The sizes of axes; a 1 among the letters is one, h*d a product."""
    known = case.sizes | {"1": 1}
    axes = (axis.split("*") for axis in letters.split())
    return [math.prod(known[s] for s in axis) for axis in axes]


# The cases that all exercises have.

# In the first one all axes are equally long: a mistake in them is then known
# by its numbers, where it would stop otherwise.
CASES = {
    "first": Case(is_given=True, pads="behind"),
    "again": Case(pads="in front"),
    "one": Case("if every axis has length 1", length=1),
    "double": Case("in float64", dtype=torch.float64),
    "strided": Case(
        "for tensors that are not contiguous", is_contiguous=False
    ),
    "large": Case(
        f"for numbers {FAR:.0f} times as large", torch.float64, times=FAR
    ),
}


def stress(spec: "Spec", draw: Draw) -> Iterator[Case]:
    """The cases of an exercise, with sizes."""
    kinds = spec.inputs.values()
    words = " ".join(kind.letters for kind in kinds).replace("*", " ")
    letters = set(words.split()) - {"1"}
    has_floats = any(map(draws_floats, kinds))
    for name in CASES if has_floats else ("first", *["again"] * 3):
        case = CASES[name]
        if name in spec.leaves_out:
            continue
        if name == "first":
            case = replace(case, length=draw.whole(3, 6))
        if case.length is None:
            different = draw.different(len(letters), 2, 3 + 2 * len(letters))
            sizes = dict(zip(sorted(letters), different, strict=True))
        else:
            sizes = dict.fromkeys(letters, case.length)
        for letter, (low, high, *given) in spec.sizes.items():
            sizes[letter] = low if name == "one" else draw.whole(low, high)
            if given and case.is_given:
                sizes[letter] = given[0](draw.given)
        if name == "again":
            told = [f"{s} = {size}" for s, size in sorted(sizes.items())]
            when = f"for {', '.join(told)}" if told else "for other numbers"
            case = replace(case, when=when)
        yield replace(case, sizes=sizes)


def draws_floats(kind: object) -> bool:
    if isinstance(kind, several):
        return any(map(draws_floats, kind.kinds))
    return isinstance(kind, floats) or getattr(kind, "is_floating", False)


# What is asked.


@dataclass(frozen=True)
class Failure:
    """A case in which an answer is not right."""

    hint: str
    inputs: Inputs
    right: object
    room: float
    got: object = None
    has_stopped: bool = False

    def shows(self, mistake: Callable) -> int | None:
        """1 if a mistake gives the same, None if it gives something else.

        0 where one of both stops, or where the mistake makes no difference.
        """
        try:
            value = mistake(*as_doubles(self.inputs).values())
        except (RuntimeError, ValueError, IndexError):
            return int(self.has_stopped)  # for other sizes than it has
        makes_none = fits(value, self.right, self.right, self.room, CLOSE)
        if self.has_stopped or makes_none:
            return 0
        is_shown = fits(self.got, value, value, self.room, CLOSE)
        return 1 if is_shown else None


@dataclass(frozen=True)
class Spec:
    """What makes an answer right.

    Args:
        reference: what is right.
        inputs: for each argument what it is drawn from.
        look: where to look if no mistake is recognised.
        mistakes: what a mistake gives, by its hint.
        sizes: the least and largest size of a letter, where it matters; and,
            if the task says it, a function of what is given.
        leaves_out: names of `CASES` that the exercise does not ask for.
        within: how far an answer may be off in any case; or a function that
            says it by the largest number of what is right.
        calls: what is done with an answer and the inputs: what it gives is
            compared, also for the reference and the mistakes.
        changes: the inputs that an answer may change.
        also: further demands: functions of the answer and the first inputs
            that raise `Wrong`.
        ways: what is to be written by oneself or to be used: functions of
            the same, with `calls` for the answer, that return a remark, or
            "". A remark is no mistake.
    """

    reference: Callable
    inputs: Mapping[str, object]
    look: str
    mistakes: Mapping[str, Callable]
    sizes: Mapping[str, tuple] = field(default_factory=dict)
    leaves_out: tuple[str, ...] = ()
    within: float | Callable[[float], float] = 0.0
    calls: Callable = lambda answer, *inputs: answer(*inputs)
    changes: tuple[str, ...] = ()
    also: tuple[Callable, ...] = ()
    ways: tuple[Callable, ...] = ()

    def __call__(self, answer: Callable, draw: Draw) -> str:
        """Try an answer in all cases; returns what is to be remarked."""
        cases = self.cases(draw)
        tries = (self.tried(answer, inputs, case) for case, inputs in cases)
        if failures := [one for one in tries if one]:
            self.explain(failures)
        first = cases[0][1]
        for demand in self.also:
            demand(answer, *copied(first).values())
        runs = partial(self.calls, answer)
        remarks = (way(runs, *copied(first).values()) for way in self.ways)
        return " ".join(filter(None, remarks))

    def cases(self, draw: Draw) -> list[tuple[Case, Inputs]]:
        """All cases, with what is drawn for each."""
        return [
            (case, {n: x.drawn(draw, case) for n, x in self.inputs.items()})
            for case in stress(self, draw)
        ]

    def wanted(
        self, inputs: Inputs, case: Case
    ) -> tuple[object, object, float]:
        """The exact answer, that of this precision, and the room for others.

        They are for comparing only: no answer gets them in its hands.
        """
        right = self.given(self.reference, as_doubles(inputs))
        expected = self.given(self.reference, copied(inputs))
        return right, expected, self.room(inputs, right, expected, case.times)

    def tried(
        self, answer: Callable, inputs: Inputs, case: Case
    ) -> "Failure | None":
        """What is wrong in one case, if anything."""
        right, expected, room = self.wanted(inputs, case)
        try:
            got = self.called(answer, inputs, 2 if case.is_given else 1)
        except Stopped as stop:
            when = f", {case.when}" if case.when else ""
            hint = f"{stop.hint}{when}"
            return Failure(hint, inputs, right, room, has_stopped=True)
        if fits(got, expected, right, room):
            return None
        hint = self.look
        try:
            same_kind(got, expected)
        except Wrong as wrong:
            hint = wrong.hint
        if case.when:
            hint = f"right at first, but not {case.when}: {hint}"
        return Failure(hint, inputs, right, room, got)

    def explain(self, failures: "list[Failure]") -> None:
        """Raise the hint of the mistake that all failures show, or theirs."""
        best, said = 0, failures[0].hint
        for hint, mistake in self.mistakes.items():
            gives = partial(self.calls, mistake)
            shown = [failure.shows(gives) for failure in failures]
            if None not in shown and sum(shown) > best:
                best, said = sum(shown), hint
        raise Wrong(said)

    def room(
        self, inputs: Inputs, exact: object, expected: object, times: float
    ) -> float:
        """How far an answer may be from the exact one.

        It is `ROOM` times the largest of: what the reference errs by in this
        precision, what it changes by if inputs are rounded another way, and
        a unit in the last place, that of a product of two inputs. What jumps,
        such as a count, is no rounding.
        """
        within = self.within
        if callable(within):
            within = within(largest(exact))
        dtypes = {x.dtype for x in numbers(inputs) if x.is_floating_point()}
        if not dtypes or not any(map(is_floating, leaves(exact))):
            return max(within, 1e-9 * max(1, largest(exact)))
        eps = max(torch.finfo(dtype).eps for dtype in dtypes)
        lots = torch.Generator().manual_seed(0)
        moved = [far(expected, exact), eps * times**2 * largest(exact)]
        for _ in range(SHAKES):
            shaken = as_doubles(inputs)
            for x in numbers(shaken):
                shake(x, eps, lots)
            moved.append(far(self.given(self.reference, shaken), exact))
        small = [m for m in moved if m <= JUMP * largest(exact)]
        return max(within, ROOM * max(small, default=0.0))

    def given(self, answer: Callable, inputs: Inputs) -> object:
        """What is compared."""
        return self.calls(answer, *inputs.values())

    def called(self, answer: Callable, inputs: Inputs, times: int) -> object:
        """What an answer gives, which changes nothing and gives it again."""
        results, states, before = [], [], settings()
        for seed in range(times):
            mine = copied(inputs)
            torch.manual_seed(seed)
            try:
                results.append(self.given(answer, mine))
            except (Wrong, NotStarted):
                raise
            except Exception as error:
                if isinstance(error, NotImplementedError) and not error.args:
                    raise NotStarted("not started.") from None
                raise Stopped(stopped(error)) from None
            states.append(torch.get_rng_state())
            expect.that(
                settings() == before,
                "your code changes a setting of torch for everybody.",
            )
            for name, x in inputs.items():
                expect.that(
                    name in self.changes or is_as_it_was(mine[name], x),
                    f"your code changes its input {name} in place.",
                )
        first, second = (tuple(leaves(results[n])) for n in (0, -1))
        expect.that(
            len(first) == len(second) and all(map(alike, first, second)),
            "called a second time it gives something else.",
        )
        expect.that(
            times == 1 or not states[0].equal(states[1]),
            "your code sets the seed of everybody's random numbers.",
        )
        return results[0]


def asks(
    inputs: Mapping[str, object],
    look: str,
    mistakes: Mapping[str, Callable] | None = None,
    **options: object,
) -> Callable[[Callable], Exercise]:
    """Register what an exercise asks; the function is the reference.

    Args:
        inputs, look, mistakes: see `Spec`.
        options: all else that `Spec` knows; and names of numbers in the task,
            with their possible values.
    """
    known = {rule.name for rule in fields(Spec)}
    rules = {name: options.pop(name) for name in known & options.keys()}

    def register(reference: Callable) -> Exercise:
        spec = Spec(reference, inputs, look, mistakes or {}, **rules)
        return Exercise(reference.__name__, spec, options)

    return register


# An answer is called.


def copied(inputs: Inputs) -> Inputs:
    """Copies that lie in memory as the originals do."""
    return tree_map(copied_one, inputs)


def copied_one(x: object) -> object:
    if isinstance(x, Tensor):
        return x.detach().clone(memory_format=torch.preserve_format)
    return copy.deepcopy(x)


def numbers(value: object) -> Iterator[Tensor]:
    """All tensors of an input or of several, those of modules included."""
    for x in tree_leaves(value):
        if isinstance(x, nn.Module):
            yield from x.state_dict().values()
        elif isinstance(x, Tensor):
            yield x


def is_as_it_was(now: object, then: object) -> bool:
    """Are an input, its numbers and a module's modes unchanged?"""
    if isinstance(then, nn.Module):
        if modes(now) != modes(then):
            return False
    elif isinstance(then, list | tuple):
        return len(now) == len(then) and all(map(is_as_it_was, now, then))
    elif isinstance(then, Mapping):
        return now.keys() == then.keys() and all(
            is_as_it_was(now[key], then[key]) for key in then
        )
    elif isinstance(then, int | float | str):
        return now == then or now != now
    elif not isinstance(then, Tensor):
        return True
    pairs = zip(numbers(now), numbers(then), strict=True)
    return all(a.equal(b) or is_nan_alike(a, b) for a, b in pairs)


def is_nan_alike(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.nan_to_num().equal(b.nan_to_num())


def modes(module: nn.Module) -> list:
    """What a module is and does, but for its numbers."""
    plain = int | float | str | None
    said = [
        {n: x for n, x in vars(part).items() if isinstance(x, plain)}
        for part in module.modules()
    ]
    kinds = [type(part) for part in module.modules()]
    return [said, kinds, [p.requires_grad for p in module.parameters()]]


def settings() -> tuple:
    """What holds for all of torch."""
    return torch.is_grad_enabled(), torch.get_default_dtype()


class Stopped(Wrong):
    """An answer stopped."""


def alike(a: object, b: object) -> bool:
    if getattr(a, "ndim", 0) and getattr(b, "ndim", 0):
        a, b = map(torch.as_tensor, (a, b))
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and a.equal(b) or bool(a.isnan().any())
    return a == b or a != a


# Values are compared.


def is_floating(x: object) -> bool:
    if isinstance(x, Tensor):
        return x.is_floating_point()
    return isinstance(x, float)


def as_doubles(inputs: Inputs) -> Inputs:
    """Copies in float64."""
    return tree_map(double, copied(inputs))


def double(x: object) -> object:
    if isinstance(x, nn.Module) or isinstance(x, Tensor) and is_floating(x):
        return x.double()
    return x


def shake(x: Tensor, eps: float, lots: torch.Generator) -> None:
    """Round numbers another way."""
    if is_floating(x):
        signs = torch.randint(0, 2, x.shape, generator=lots) * 2 - 1
        x.mul_(1 + eps * signs.to(x))


def leaves(value: object) -> Iterator[object]:
    """The numbers, tensors and words of a result, in order."""
    if isinstance(value, list | tuple):
        yield from itertools.chain.from_iterable(map(leaves, value))
    elif isinstance(value, Mapping):
        yield from itertools.chain.from_iterable(map(leaves, value.items()))
    else:
        yield value


def far(a: object, b: object) -> float:
    """The largest distance of two results that have the same form."""
    pairs = zip(leaves(a), leaves(b), strict=True)
    return largest(
        [as_tensor(x) - as_tensor(y) for x, y in pairs if is_floating(x)]
    )


def largest(a: object) -> float:
    """The largest size of a finite number."""
    all_of_them = (as_tensor(x) for x in leaves(a) if is_floating(x))
    finite = (x[x.isfinite()].abs() for x in all_of_them)
    return max((x.max().item() for x in finite if x.numel()), default=0.0)


def as_tensor(x: object) -> Tensor:
    return torch.as_tensor(x).detach().cpu().double()


def fits(
    got: object, expected: object, exact: object, room: float, close=0.0
) -> bool:
    """Has a result the kind and form of one, and the values of another?

    What holds one number may stand for it (see `plain`), a list for a tuple.
    If it is to be `close`, a share of its size, any kind of number will do.
    """
    if isinstance(expected, list | tuple):
        return (
            isinstance(got, list | tuple)
            and len(got) == len(expected)
            and all(
                fits(g, e, x, room, close)
                for g, e, x in zip(got, expected, exact, strict=True)
            )
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(got, Mapping)
            and got.keys() == expected.keys()
            and all(
                fits(got[key], expected[key], exact[key], room, close)
                for key in expected
            )
        )
    room = max(room, close * largest(exact))
    if isinstance(expected, Tensor):
        if not isinstance(got, Tensor) or got.shape != expected.shape:
            return False
        if not close and got.dtype != expected.dtype:
            return False
        return is_near(as_tensor(got), as_tensor(exact), room)
    got = plain(got)
    if isinstance(expected, bool) or isinstance(got, bool):
        return got is expected
    if isinstance(expected, int) and not close:
        return isinstance(got, int) and got == expected
    if isinstance(expected, int | float) and isinstance(got, int | float):
        return is_near(as_tensor(got), as_tensor(exact), room)
    return type(got) is type(expected) and bool(got == expected)


def plain(x: object) -> object:
    """A tensor without axes, or a number of NumPy's, as one of Python's."""
    return x if getattr(x, "ndim", 1) else x.item()


def is_near(got: Tensor, exact: Tensor, room: float) -> bool:
    return torch.allclose(got, exact, rtol=0, atol=room, equal_nan=True)


def same_kind(got: object, expected: object) -> None:
    """Raise what differs before values do: kind, form, dtype."""
    if isinstance(expected, Tensor):
        expect.tensor(got, tuple(expected.shape), expected.dtype)
    elif isinstance(expected, list | tuple):
        of_kind(got, list | tuple, "a list")
        if isinstance(expected, tuple):
            many = expect.plural(len(expected), "value")
            is_complete = len(got) == len(expected)
            expect.that(is_complete, f"your code returns other than {many}.")
        for mine, its in zip(got, expected, strict=False):
            same_kind(mine, its)
    elif isinstance(expected, Mapping):
        of_kind(got, Mapping, "a dictionary")
    elif type(expected) is int:
        of_kind(plain(got), int, "a whole number")
    elif type(expected) is float:
        of_kind(plain(got), int | float, "a number")


def of_kind(got: object, kind: type, wanted: str) -> None:
    expect.that(
        isinstance(got, kind) and not isinstance(got, bool),
        f"{wanted} is asked for, and yours is {expect.a(got)}.",
    )


# How it is written: remarks, which cost nothing.


def uses(name: str, remark: str) -> Callable:
    """A remark unless a function of this name is called."""

    def way(answer: Callable, *inputs: object) -> str:
        with Calls(name) as heard:
            answer(*inputs)
        return "" if heard.made else remark

    return way


def by_oneself(*names: str) -> Callable:
    """A remark if something is called that is to be written."""

    def way(answer: Callable, *inputs: object) -> str:
        with Calls(*names) as heard:
            answer(*inputs)
        borrowed = " and ".join(sorted(heard.borrowed))
        return f"It was to be written without {borrowed}." if borrowed else ""

    return way
