"""lib.speculative: what is written has the probabilities of the target."""

import itertools
import math
from collections import Counter
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.decoding import greedy
from lib.speculative import (
    accept,
    acceptance_rate,
    adjusted,
    expected_tokens,
    speculative_step,
)
from tests.library import no
from tests.library.draw import DEVICE, close, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.strategies import dtype, lead
from tests.library.untrained import VOCAB, build, sources, step_logits


def rows(*shape, seed=0, dtype=torch.float64):
    """Rows of probabilities, some of them small."""
    return (2 * normal(*shape, seed=seed).double()).softmax(-1).to(dtype)


@given(lead, st.integers(1, 13), dtype)
def test_the_two_formulas(lead, vocab, dtype):
    p, q = (rows(*lead, vocab, seed=s, dtype=dtype) for s in (0, 1))
    wide_p, wide_q = p.double(), q.double()
    rate = torch.minimum(wide_p, wide_q).sum(-1)
    close(acceptance_rate(p, q), rate.to(dtype))
    if dtype == torch.float64:
        left = (p - q).clamp(min=0)
        whole = torch.minimum(p, q) + (1 - rate[..., None]) * adjusted(p, q)
        close(whole, p)
        if vocab > 1:
            close(adjusted(p, q), left / left.sum(-1, keepdim=True))
    same(adjusted(p, p), p)


def scripted(monkeypatch, coins):
    """`accept` meets these coins; what it then draws from is kept."""
    drawn_from = []

    def multinomial(row, number, generator=None):
        drawn_from.append(row)
        return torch.zeros(number, dtype=torch.int64)

    def rand(number, generator=None, dtype=None):
        assert dtype == torch.float64 and number == len(coins)
        return torch.tensor(coins, dtype=dtype)

    monkeypatch.setattr(torch, "rand", rand)
    monkeypatch.setattr(torch, "multinomial", multinomial)
    return drawn_from


def all_ways(monkeypatch, p, q):
    """{tokens: probability} of `accept`, over all drafts and coins.

    A coin falls just below the chance of its token, or just above.
    """
    gamma, vocab = q.shape
    ways = Counter()
    for guess in itertools.product(range(vocab), repeat=gamma):
        at = torch.arange(gamma), torch.tensor(guess)
        chances = (p[at] / q[at]).clamp(max=1).tolist()
        for sides in itertools.product((True, False), repeat=gamma):
            share = math.prod(q[at].tolist())
            for side, chance in zip(sides, chances, strict=True):
                share *= chance if side else 1 - chance
            if share == 0:
                continue
            coins = [
                c * (1 - 1e-9) if side else c + 1e-9 * (1 - c)
                for side, c in zip(sides, chances, strict=True)
            ]
            kept = scripted(monkeypatch, coins)
            *tokens, _ = accept(p, q, at[1]).tolist()
            for y, now in enumerate(kept[0].tolist()):
                ways[*tokens, y] += share * now
    return ways


@pytest.mark.parametrize("vocab, gamma", [(2, 1), (2, 3), (3, 2), (5, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_by_enumeration_each_token_has_the_target_s_probability(
    monkeypatch, vocab, gamma, seed
):
    """Given the tokens before it, whichever way it came."""
    p = rows(gamma + 1, vocab, seed=seed).cpu()
    q = rows(gamma, vocab, seed=9 + seed).cpu()
    ways = all_ways(monkeypatch, p, q)
    assert abs(sum(ways.values()) - 1) < 1e-12
    for n in range(gamma + 1):
        reached = Counter()
        for tokens, share in ways.items():
            if len(tokens) > n:
                reached[tokens[: n + 1]] += share
        before = Counter()
        for tokens, share in reached.items():
            before[tokens[:n]] += share
        for tokens, share in reached.items():
            wanted = before[tokens[:n]] * p[n, tokens[n]].item()
            assert abs(share - wanted) < 1e-12


def test_a_coin_of_zero_does_not_accept_the_impossible(monkeypatch):
    p, q = torch.eye(2)[[1, 1]], torch.full((1, 2), 0.5)
    drawn_from = scripted(monkeypatch, [0.0])
    assert len(accept(p, q, torch.tensor([0]))) == 1
    same(drawn_from[0], p[0].double())


@given(st.integers(0, 7), st.sampled_from([torch.int32, torch.int64]), dtype)
def test_a_draft_that_equals_the_target_is_accepted(gamma, kind, dtype):
    p = rows(gamma + 1, 11, dtype=dtype)
    drafted = torch.arange(gamma).to(DEVICE, kind)
    written = accept(p, p[:-1], drafted, torch.Generator())
    assert written.dtype == kind and written.device == drafted.device
    same(written[:-1], drafted)


def test_chances_are_computed_in_float64(monkeypatch):
    """A coin falls between the quotient and what bfloat16 makes of it."""
    p, q = (torch.tensor([x, 1 - x]).bfloat16() for x in (0.3, 0.7))
    exact, rough = p.double()[0] / q.double()[0], (p / q)[0].double()
    between, drafted = (exact + rough) / 2, torch.tensor([0])
    scripted(monkeypatch, [between.item()])
    written = accept(torch.stack([p, p]), q[None], drafted)
    assert exact != rough and (len(written) == 2) == (between < exact)


def test_all_random_numbers_come_from_the_generator():
    """Not from torch's own, and they are those of the ids' device and kind."""
    p, q = rows(5), rows(5, seed=1)
    ids, texts = torch.tensor([4], dtype=torch.int32).to(DEVICE), set()
    for seed in range(9):
        torch.manual_seed(seed)
        g, text = torch.Generator().manual_seed(0), ids
        for _ in range(9):
            new = speculative_step(alike(p), alike(q), text, 3, g)
            text = torch.cat([text, new])
        texts.add(tuple(text.tolist()))
    assert len(texts) == 1 and text.dtype == torch.int32


def alike(row):
    """A model that says the same after every token."""
    return lambda ids: row.expand(len(ids), -1)


@pytest.mark.parametrize("gamma", [1, 2, 5, 30])
def test_expected_tokens(gamma):
    for alpha in (0.0, 0.3, 0.99):
        fraction = (1 - alpha ** (gamma + 1)) / (1 - alpha)
        assert math.isclose(expected_tokens(alpha, gamma), fraction)
    assert expected_tokens(1.0, gamma) == gamma + 1


def test_a_step_writes_as_many_as_are_expected():
    """And looks once; the draft is asked for one token after the other."""
    p, q, calls = rows(5), rows(5, seed=1), Counter()
    alpha = acceptance_rate(p, q).item()

    def model(name, row, ids):
        calls[name] += 1
        return row.expand(len(ids), -1)

    target, draft = partial(model, "target", p), partial(model, "draft", q)
    ids, g = torch.tensor([4, 2]).to(DEVICE), torch.Generator().manual_seed(0)
    sizes = [
        len(speculative_step(target, draft, ids, 3, g)) for _ in range(2_000)
    ]
    assert calls == {"target": 2_000, "draft": 6_000}
    assert {*sizes} == {1, 2, 3, 4}
    assert abs(sum(sizes) / 2_000 - expected_tokens(alpha, 3)) < 0.15


def sure(says):
    """The same model, sure of its best token."""

    def best(ids):
        p = says(ids)
        return torch.nn.functional.one_hot(p.argmax(-1), VOCAB).to(p)

    return best


def reads(model, source):
    """The probabilities of a model that reads the whole text each time."""

    def says(ids):
        with torch.no_grad():
            logits = step_logits(model, source[None], ids[None])[0]
        logits[:, :2] = -math.inf
        return logits.softmax(-1)

    return says


def write(target, draft, gamma, most):
    """As many tokens; EOS is one like the others."""
    ids = torch.tensor([1]).to(DEVICE)
    generator = torch.Generator().manual_seed(0)
    while len(ids) <= most:
        new = speculative_step(target, draft, ids, gamma, generator)
        ids = torch.cat([ids, new])
    return ids[1 : most + 1]


@pytest.mark.parametrize("gamma", [1, 2, 5])
def test_a_sure_target_writes_what_greedy_decoding_writes(gamma):
    model, other = build(seed=1), build(seed=2)
    for source in sources(3):
        source = source[source != 0]
        alone = greedy(model, source[None], 12)[0]
        unsure, target = reads(other, source), reads(model, source)
        for draft in (unsure, sure(unsure), target):
            same(write(sure(target), draft, gamma, 12)[: len(alone)], alone)


P, Q = rows(3, 5, seed=3), rows(2, 5, seed=4)
DRAFTED = torch.tensor([1, 4]).to(DEVICE)
both = partial(acceptance_rate, p=P, q=P)
lacks = partial(adjusted, p=P, q=P)
decides = partial(accept, p=P, q=Q, drafted=DRAFTED)
step = partial(
    speculative_step,
    target=alike(P[0]),
    draft=alike(Q[0]),
    ids=DRAFTED,
    gamma=2,
)
twice = partial(expected_tokens, alpha=0.5, gamma=2)


def other(x, by, at=(0, 0)):
    """The same but for one number."""
    x = x.clone()
    x[at] += by
    return x


def saying(**model):
    """A step whose target or draft says these rows, whatever the text."""
    ((name, p),) = model.items()
    return step(**{name: lambda ids: p})


never = torch.eye(5, dtype=torch.float64).to(DEVICE)[[1, 3]]
FEW, MANY = torch.ones(3).to(DEVICE), torch.ones(2, 3, 5).to(DEVICE) / 5
SUMS = {
    f"a sum of {1 + by:.4f}": other(P, by) for by in (0.01, 0.0001, math.inf)
}
BELOW = {"-1": other(other(P, -1 - P[0, 0]), 1 + P[0, 0], (0, 1))}
NO_NUMBER = {"nan": other(P, math.nan)}
AN_ID = "ids from 0 to 4"
test_bad_input = refuses(
    *no.floating_tensor(both, "p", "q"),
    *no.floating_tensor(lacks, "p", "q"),
    *no.floating_tensor(decides, "p", "q"),
    *no.size(twice, "gamma"),
    *no.size(step, "gamma"),
    *no.number(twice, "alpha"),
    ("alpha", twice, ValueError, "<= 1", {"1.1": 1.1, "nan": math.nan}),
    ("alpha", twice, ValueError, "0 <=", {"-0.1": -0.1}),
    ("q", both, TypeError, "torch.float64", by_dtype(P.float())),
    ("q", lacks, ValueError, "the vocab of p", by_shape(P[:, :4])),
    ("q", both, ValueError, "leading axes", {"(2,)": P[:2]}),
    *[
        (name, call, ValueError, expected, values)
        for call, name in ((both, "p"), (lacks, "q"), (decides, "p"))
        for expected, values in (
            ("sum to 1", SUMS),
            ("at least 0", BELOW | NO_NUMBER),
        )
    ],
    ("q", decides, ValueError, "sum to 1", {"a sum of 2": 2 * Q}),
    ("p", decides, ValueError, "3 rows, one more",
     {"2": P[:2], "4": P[[0, 1, 2, 2]]}),
    ("p", decides, ValueError, "the vocab of q", by_shape(rows(3, 4))),
    ("p", decides, ValueError, "2 axes", by_shape(MANY)),
    ("drafted", decides, TypeError, "an integer tensor", by_dtype(FEW)),
    ("drafted", decides, TypeError, "a tensor", {"list": [1, 4]}),
    ("drafted", decides, ValueError, "1 axes", by_shape(DRAFTED[None])),
    ("drafted", decides, ValueError, "the gamma of q", by_shape(DRAFTED[:1])),
    ("drafted", decides, ValueError, AN_ID,
     {"5": DRAFTED + 1, "-1": DRAFTED - 2}),
    ("drafted", lambda drafted: accept(P, never, drafted), ValueError,
     "tokens that q can draw", {"4, where q": DRAFTED}),
    ("ids", step, ValueError, "at least one token", by_shape(DRAFTED[:0])),
    ("ids", step, ValueError, "1 axes", by_shape(DRAFTED[None])),
    ("ids", step, TypeError, "an integer tensor", by_dtype(FEW)),
    ("target", step, TypeError, "a function", {"Tensor": P}),
    ("draft", step, TypeError, "a function", {"NoneType": None}),
    ("generator", decides, TypeError, "a Generator", {"int": 0}),
    # logits, for example, are no probabilities
    *[
        (name, saying, ValueError, expected, values)
        for name in ("target", "draft")
        for expected, values in (
            ("sum to 1", {"a sum of 2.0000": 2 * P}),
            ("at least 0", {"-1.0000": 0 * P - 1}),
            ("2 axes", by_shape(P[None])),
            ("at least", {"0": P[:0]}),
        )
    ],
    ("draft", saying, TypeError, "a floating-point tensor",
     by_dtype(DRAFTED[None])),
    ("target", saying, ValueError, "at least 3 rows", {"2": P[:2]}),
    ("p", lambda p: saying(target=p), ValueError, "the vocab of q, 5",
     {"4": rows(3, 4)}),
)  # fmt: skip


def test_a_target_may_leave_out_all_rows_but_the_last():
    one, other = (torch.Generator().manual_seed(0) for _ in range(2))
    written = step(generator=one, target=lambda ids: P[[0, 0, 0]])
    same(written, step(generator=other))


def test_probabilities_of_float32_may_be_off_as_such():
    p = rows(2, 50_000, dtype=torch.float32).double()
    assert (p.sum(-1) != 1).any()
    assert acceptance_rate(p, p).shape == (2,)
