"""lib.yarn against its formula.

That it is the rule of `transformers` stands in tests/conformance/test_yarn.py.
"""

import math
from functools import partial

import pytest
import torch

from lib.modern import Stretch, rotary_steps
from lib.yarn import Yarn, yarn_steps
from tests.library import no
from tests.library.draw import close, same
from tests.library.refusals import refuses


@pytest.mark.parametrize(
    ("d_head", "base", "trained"),
    [(128, 5e5, 8_192), (64, 1e4, 4_096), (2, 1e4, 4_096), (16, 100.0, 64)],
)
def test_it_is_the_formula_pair_by_pair(d_head, base, trained):
    def border(turns):
        return (d_head * math.log(trained / (turns * 2 * math.pi))) / (
            2 * math.log(base)
        )

    low, high = math.floor(border(32)), math.ceil(border(1))
    low, high = max(low, 0), min(high, d_head - 1)
    expected = []
    for i in range(d_head // 2):
        step = base ** (-2 * i / d_head)
        ramp = min(max((i - low) / (high - low), 0), 1)
        expected.append(step / 7 * ramp + step * (1 - ramp))
    found = yarn_steps(d_head, base, Yarn(7.0, trained))
    close(found, torch.tensor(expected, dtype=torch.float64))


def test_without_a_factor_nothing_changes():
    yarn = Yarn(1.0, 4_096)
    same(yarn_steps(64, 1e4, yarn), rotary_steps(64, 1e4))
    assert yarn.attention_factor == 1


def test_a_ramp_between_two_pairs_is_a_step():
    """Borders beside each other: pair 0 stays, all others get the factor."""
    yarn = Yarn(7.0, 7, beta_fast=1.1)
    slowed = rotary_steps(16, 100.0) / yarn_steps(16, 100.0, yarn)
    assert slowed[0] == 1 and yarn.pair(1.1, 16, 100.0) < 0.1
    close(slowed[1:], torch.full((7,), 7.0).double())


def test_the_temperature():
    assert abs(Yarn(math.e**3, 4_096).attention_factor - 1.3) < 1e-12


sizes = partial(Yarn, **{"factor": 4.0, "trained": 4_096})
turned = partial(yarn_steps, **{"d_head": 8, "base": 1e4, "yarn": sizes()})
test_bad_input_is_refused = refuses(
    *no.number(sizes, "factor", "beta_fast", "beta_slow"),
    *no.integer(sizes, "trained"),
    *no.integer(turned, "d_head"),
    *no.number(turned, "base"),
    ("factor", sizes, ValueError, "at least 1", {"0.5": 0.5}),
    ("trained", sizes, ValueError, "at least 7", {"6": 6}),
    ("beta_slow", sizes, ValueError, "above 0", {"0": 0}),
    ("beta_fast", sizes, ValueError, "above 1.0", {"1.0": 1.0}),
    ("d_head", turned, ValueError, "even", {"3": 3}),
    ("base", turned, ValueError, "above 1", {"1": 1}),
    ("yarn", turned, TypeError, "a Yarn", {"Stretch": Stretch(4.0)}),
)  # fmt: skip
