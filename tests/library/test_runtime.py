"""lib.runtime: the device, the settings, and how a tensor is shown."""

import os
import sys

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from lib import runtime


@pytest.mark.parametrize("wanted", [None, "", "cpu", "cuda", "tpu"])
@pytest.mark.parametrize("gpu", [False, True])
def test_device(monkeypatch, wanted, gpu):
    monkeypatch.delenv("BOOK_DEVICE", raising=False)
    if wanted is not None:
        monkeypatch.setenv("BOOK_DEVICE", wanted)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    if wanted == "tpu":
        said = "BOOK_DEVICE: expected 'cpu', 'cuda' or nothing, got 'tpu'"
        with pytest.raises(ValueError, match=said):
            runtime.device()
    elif wanted == "cuda" and not gpu:
        with pytest.raises(RuntimeError, match="BOOK_DEVICE is 'cuda'"):
            runtime.device()
    else:
        expected = "cuda" if gpu and wanted != "cpu" else "cpu"
        assert runtime.device() == torch.device(expected)


def test_setup_makes_a_notebook_repeatable():
    torch.use_deterministic_algorithms(False)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    assert runtime.setup(7) == runtime.device()
    assert torch.initial_seed() == 7
    runtime.setup()
    assert torch.initial_seed() == 0
    assert torch.are_deterministic_algorithms_enabled()
    assert not torch.backends.cuda.matmul.allow_tf32
    assert not torch.backends.cudnn.allow_tf32
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"


def test_setup_takes_one_thread_unless_the_reader_names_another_number(
    monkeypatch,
):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    runtime.setup()
    named = torch.get_num_threads()
    monkeypatch.delenv("OMP_NUM_THREADS")
    runtime.setup()
    usual = torch.get_num_threads()
    torch.set_num_threads(before)
    assert (named, usual) == (2, 1)


def test_setup_prints_four_decimals_and_no_history(monkeypatch):
    torch.set_printoptions(profile="default")
    shell = InteractiveShell()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    runtime.setup()
    assert repr(torch.tensor([1e-3, 12345.0])) == (
        "tensor([    0.0010, 12345.0000])"
    )
    assert max(map(len, repr(torch.ones(40)).splitlines())) <= 79
    show = shell.display_formatter.formatters["text/plain"]
    weight = torch.nn.Parameter(torch.ones(2, device=runtime.device()))
    assert show(weight) == "tensor([1., 1.])"
    assert show([weight * 2]) == "[tensor([2., 2.])]"


def test_setup_works_without_ipython(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert runtime.setup() == runtime.device()


@pytest.mark.bad_input
def test_a_seed_is_an_integer():
    with pytest.raises(TypeError, match="seed: expected an integer, got str"):
        runtime.setup("0")
