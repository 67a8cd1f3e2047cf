"""The shapes in the signatures of book/lib hold in every test.

Enforcing them is a setting for a whole Python process, so a second session
runs the tests of this folder with it (see conftest.py). In that session this
file shows that a wrong shape does not pass.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from jaxtyping import TypeCheckError

from lib.attention import attention
from lib.embedding import TokenEmbedding
from lib.softmax import softmax
from lib.text import pad_batch

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
ENFORCED = os.environ.get("BOOK_TYPECHECK") == "1"
FITTING = "not bad_input and not compiled"
WRONG = [
    lambda: softmax(torch.ones(3, dtype=torch.int64)),
    lambda: softmax(torch.ones(3), dim=0.5),
    lambda: attention(torch.ones(3, 5), torch.ones(7, 4), torch.ones(7, 2)),
    lambda: attention(torch.ones(3, 5), torch.ones(7, 5), torch.ones(6, 2)),
    lambda: TokenEmbedding(7, 5)(torch.ones(3)),
    lambda: pad_batch([[1]], "0"),
]


@pytest.mark.skipif(not ENFORCED, reason="needs BOOK_TYPECHECK=1")
@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_shape_does_not_pass(call):
    with pytest.raises(TypeCheckError):
        call()


@pytest.mark.skipif(ENFORCED, reason="is this session")
def test_every_signature_holds():
    command = [sys.executable, "-m", "pytest", HERE, "-m", FITTING]
    session = subprocess.run(
        [*command, "-q", "-p", "no:xdist"],
        cwd=ROOT,
        env=os.environ | {"BOOK_TYPECHECK": "1"},
        capture_output=True,
        text=True,
    )
    assert session.returncode == 0, session.stdout + session.stderr
    passed = int(re.search(r"(\d+) passed", session.stdout)[1])
    assert passed > 50 and " 1 skipped" in session.stdout
