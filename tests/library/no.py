"""Rows of the tables of `refusals`: what is no size, no number, ...

Each takes the call, and the arguments of which it is asked.
"""

import math

import torch


def integer(call, *names):
    values = {"NoneType": None, "float": 2.0, "bool": True}
    return [(name, call, TypeError, "an integer", values) for name in names]


def size(call, *names):
    """What is no positive integer."""
    few = {"0": 0, "-2": -2}
    below = [(name, call, ValueError, "at least", few) for name in names]
    return [*integer(call, *names), *below]


def number(call, *names):
    values = {"NoneType": None, "str": "0.1", "bool": True}
    return [(name, call, TypeError, "a number", values) for name in names]


def dropout(call):
    """What is no number from 0 up to, but not including, 1."""
    values, name = {"-0.1": -0.1, "1": 1, "nan": math.nan}, "dropout"
    outside = (name, call, ValueError, "0 <= dropout < 1", values)
    return [*number(call, name), outside]


def switch(call, *names):
    """What is neither True nor False."""
    values = {"int": 1, "str": "no"}
    return [(name, call, TypeError, "True or False", values) for name in names]


def floating_tensor(call, *names):
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
