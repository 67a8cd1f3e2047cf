"""Tables of bad input, and the test that goes through one.

A row has an argument as the message names it, a call that lacks nothing else,
the error, words of what the message says it expected, and the refused values,
each under words of what the message says it got. The value is passed by the
last word of the name: "an item of tokens" as `tokens=`.
"""

import math

import pytest
import torch

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


def no_integer(call, *names):
    values = {"NoneType": None, "float": 2.0, "bool": True}
    return [(name, call, TypeError, "an integer", values) for name in names]


def no_size(call, *names):
    """What is no positive integer."""
    few = {"0": 0, "-2": -2}
    below = [(name, call, ValueError, "at least", few) for name in names]
    return [*no_integer(call, *names), *below]


def no_number(call, name):
    values = {"NoneType": None, "str": "0.1", "bool": True}
    return [(name, call, TypeError, "a number", values)]


def no_dropout(call):
    """What is no number from 0 up to, but not including, 1."""
    values, name = {"-0.1": -0.1, "1": 1, "nan": math.nan}, "dropout"
    outside = (name, call, ValueError, "0 <= dropout < 1", values)
    return [*no_number(call, name), outside]


def no_switch(call, *names):
    """What is neither True nor False."""
    values = {"int": 1, "str": "no"}
    return [(name, call, TypeError, "True or False", values) for name in names]


def no_floating_tensor(call, *names):
    """What is no tensor, and one of another kind of numbers."""
    whole, truth = torch.ones(2, 3, 6).long(), torch.ones(2, 3, 6).bool()
    kinds = {"torch.int64": whole, "torch.bool": truth}
    no_tensor = {"NoneType": None, "list": [1.0]}
    return [
        (name, call, TypeError, expected, values)
        for name in names
        for expected, values in (
            ("a tensor", no_tensor),
            ("a floating-point tensor", kinds),
        )
    ]
