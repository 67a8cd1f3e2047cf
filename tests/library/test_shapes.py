"""The shapes in the signatures of book/lib and book/kit hold in every test.

Enforcing them is a setting for a whole Python process: `make test-all`
runs the tests of this folder with it (see conftest.py), and this file shows
that it has an effect. Bad input and compiled functions follow without it.
"""

import os
import sys
from importlib.machinery import SourceFileLoader

import pytest
import torch
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import TypeCheckError

from kit.shapes import Step
from lib.attention import attention
from lib.softmax import softmax
from lib.text import pad_batch

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("BOOK_TYPECHECK") != "1",
        reason="needs BOOK_TYPECHECK=1, as in `make test-all`",
    ),
]
WRONG = [
    lambda: softmax(torch.ones(3, dtype=torch.int64)),
    lambda: attention(torch.ones(3, 5), torch.ones(7, 5), torch.ones(6, 2)),
    lambda: pad_batch([[1]], "0"),
    lambda: Step("output", "logits", [2, 3]),
]


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_shape_or_type_does_not_pass(call):
    with pytest.raises((TypeCheckError, BeartypeCallHintViolation)):
        call()


def test_no_module_is_imported_before_signatures_are_enforced():
    plain = [
        name
        for name, module in sys.modules.items()
        if name.startswith(("lib.", "kit."))
        and type(module.__loader__) is SourceFileLoader
    ]
    assert plain == [] and "lib.attention" in sys.modules
