"""Tables of bad input, and the test that goes through one.

A row has an argument as the message names it, a call that lacks nothing else,
the error, words of what the message says it expected, and the refused values,
each under words of what the message says it got. The value is passed by the
last word of the name: "an item of tokens" as `tokens=`. Rows that many tables
need are in `no`.
"""

import pytest

from tests.library.draw import refused


def refuses(*table):
    """The test that every value of a table is refused, and why."""
    cases = [
        pytest.param(call, value, (error, name, expected, got), id=got)
        for name, call, error, expected, values in table
        for got, value in values.items()
    ]

    @pytest.mark.bad_input
    @pytest.mark.parametrize(("call", "value", "answer"), cases)
    def test(call, value, answer):
        error, name, expected, got = answer
        with refused(error, name, expected, got):
            call(**{name.split()[-1]: value})

    return test


def by_dtype(*tensors):
    return {f"{x.dtype}": x for x in tensors}


def by_shape(*tensors):
    return {f"{tuple(x.shape)}": x for x in tensors}
