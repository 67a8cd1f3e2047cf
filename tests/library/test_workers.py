"""What workers run, and how they are started; the one worker is this process.

Chapter 17 launches two, compares all of it with one process, counts the sums
and loses a worker.
"""

import copy
import json
import os
import runpy
import signal
import subprocess
import sys
from datetime import timedelta
from functools import partial
from unittest.mock import Mock

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

from kit import launching, workers
from kit.launching import WorkerError, on_workers, what_happened
from lib import parallel
from lib.parallel import group_of_workers
from lib.training import Batch, label_smoothed_loss
from lib.transformer import Transformer, TransformerConfig
from tests.library import no
from tests.library.draw import normal
from tests.library.refusals import refuses
from tests.library.test_parallel import layers

D64 = torch.float64
near = partial(torch.testing.assert_close, atol=1e-13, rtol=1e-13)
ONE = {
    **{"RANK": "0", "WORLD_SIZE": "1", "BOOK_DEVICE": "cpu"},
    **{"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"},
    **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"},
    "GLOO_SOCKET_IFNAME": launching.surroundings()["GLOO_SOCKET_IFNAME"],
}


@pytest.fixture
def one(monkeypatch):
    """The surroundings of the only worker of a launch."""
    for name, value in ONE.items():
        monkeypatch.setenv(name, value)


def as_worker(folder, monkeypatch, task, count=False, **given):
    """What `python -m kit.launching FOLDER` hands over, in this process."""
    torch.save((task, 60, count), folder / "task.pt")
    torch.save(given, folder / "given.pt")
    monkeypatch.setattr("sys.argv", ["launching", str(folder)])
    runpy.run_path(launching.__file__, run_name="__main__")
    return launching.read(folder / "0.pt")


def given():
    made, x = layers()
    gradient = normal(2, 5, 12, dtype=D64, seed=1).cpu()
    made = [layer.cpu() for layer in made]
    return {"layers": made, "x": x.cpu(), "gradient": gradient}


def test_a_single_worker_is_the_whole(one, tmp_path, monkeypatch):
    by_torch = given()
    attention, network = by_torch.pop("layers")
    plan = {f"0.to_{name}": ColwiseParallel() for name in "qkv"}
    plan |= {"0.out": RowwiseParallel()}
    plan |= {"1.widen": ColwiseParallel(), "1.narrow": RowwiseParallel()}
    four = workers.FourMatrices(attention)
    by_torch |= {"model": nn.Sequential(four, network), "plans": {"a": plan}}
    config = TransformerConfig(9, 9, 8, 2, 16, 1, 1, dropout=0.0)
    trained = {"model": Transformer(config).double()}
    trained["batches"] = [Batch(*torch.randint(3, 9, (3, 6, 4)))] * 4
    trained["rate"] = 0.5
    found = as_worker(
        *(tmp_path, monkeypatch, "kit.workers:in_turn"),
        by_hand=partial(parallel.there_and_back, **given()),
        by_torch=partial(workers.by_torch, **by_torch),
        trained=partial(workers.train_both_ways, **trained),
    )
    x, gradient = by_torch["x"].requires_grad_(), by_torch["gradient"]
    middle = attention(x)
    last = network(middle)
    last.backward(gradient)
    outputs = [middle.detach(), last.detach()]
    near(found["by_hand"]["outputs"], outputs)
    near(found["by_hand"]["x"], x.grad)
    assert len(found["by_hand"]["weights"]) == 8
    in_plan = found["by_torch"]["a"]
    near([in_plan["x"], in_plan["output"]], [x.grad, outputs[1]])
    assert len(in_plan["weights"]) == 12
    near(found["trained"]["tokens"], found["trained"]["workers"])
    assert found["trained"]["tokens"].diff().max() < 0
    losses, weights = trained_alone(**trained)
    near(found["trained"]["tokens"], losses)
    near(found["trained"]["weights"], weights)


def trained_alone(model, batches, rate, kind=torch.optim.SGD):
    """Losses and weights of a single process, by torch's own optimizer."""
    model, losses = copy.deepcopy(model), []
    optimizer = kind(model.parameters(), rate)
    for batch in batches:
        logits = model(batch.source, batch.decoder_input)
        losses.append(label_smoothed_loss(logits, batch.target))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    return torch.stack(losses).detach(), [w.data for w in model.parameters()]


@pytest.mark.slow
def test_two_workers_train_as_one_if_tokens_count_the_same():
    config = TransformerConfig(9, 9, 8, 2, 16, 1, 1, dropout=0.0)
    torch.manual_seed(5)
    model, ids = Transformer(config).double(), torch.randint(4, 9, (3, 6, 4))
    ids[2, ::2, 1:] = 0  # the first worker has a token a row
    given = {"model": model, "batches": [Batch(*ids)] * 4, "rate": 0.5}
    results = on_workers("kit.workers:train_both_ways", **given)
    losses, weights = trained_alone(**given)
    for result in results:
        near(result["tokens"], losses)
        near(result["weights"], weights)
        assert (result["workers"] - losses).abs().min() > 1e-4


def test_the_bytes_of_sums_are_counted(one, tmp_path, monkeypatch):
    size = given()["x"].nbytes
    task, slope = "there_and_back", given()
    found = as_worker(tmp_path, monkeypatch, task, count=True, **slope)
    assert found["sums"] == [size] * 4


@pytest.mark.parametrize(
    "visible, here, backend", [(0, 1, "gloo"), (1, 2, "gloo"), (2, 2, "nccl")]
)
def test_cards_are_used_if_there_is_one_for_each(
    monkeypatch, one, visible, here, backend
):
    monkeypatch.setenv("LOCAL_RANK", str(here - 1))
    monkeypatch.setenv("LOCAL_WORLD_SIZE", str(here))
    kind = torch.device("cuda" if visible else "cpu")
    monkeypatch.setattr(parallel, "device", lambda: kind)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: visible)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
    init = Mock()
    monkeypatch.setattr(dist, "init_process_group", init)
    with group_of_workers(7) as place:
        card = place if backend == "nccl" else None
    assert place == torch.device(f"cuda:{here - 1}" if card else "cpu")
    wait = timedelta(seconds=7)
    init.assert_called_once_with(backend, timeout=wait, device_id=card)


def test_worker_1_meets_its_fate(monkeypatch):
    monkeypatch.setattr(dist, "all_reduce", lambda x: x.mul_(2))
    fate = Mock()
    for rank in range(2):
        monkeypatch.setattr(dist, "get_rank", lambda rank=rank: rank)
        assert parallel.lose_one(fate).item() == 2
        assert fate.call_count == rank


def test_an_error_of_a_worker_is_handed_over(tmp_path, monkeypatch, one):
    """Before the task, and in it; and the worker leaves its group."""

    def fails(error, answer, task="lose_one"):
        (tmp_path / "0.json").unlink(missing_ok=True)
        with pytest.raises(error):
            as_worker(tmp_path, monkeypatch, task, nothing=0)
        assert what_happened(tmp_path, "", 4).startswith(answer)
        assert not dist.is_initialized()

    fails(TypeError, "worker 0 of 4: TypeError: ")
    fails(AttributeError, "worker 0 of 4: AttributeError: ", "math:flour")
    error = OSError("[/a/b.cc:78] Timed out waiting 5000ms")
    init = Mock(side_effect=error)
    monkeypatch.setattr(dist, "init_process_group", init)
    fails(OSError, "worker 0 of 4: OSError: Timed out waiting 5000ms")


REPORT = """\
Failures:
[1]:
  time      : 2026-01-01_00:00:00
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 7)  (SIGTERM)
Root Cause (first observed failure):
[0]:
  rank      : 2 (local_rank: 2)
  exitcode  : {code} (pid: 8)
"""


def test_who_is_to_blame(tmp_path):
    """A worker that was killed; else the first that noted an error."""
    for rank, seconds, error in ((1, 5.0, "A: b"), (0, 7.0, "Closed: c")):
        note = {"rank": str(rank), "time": seconds, "error": error}
        (tmp_path / f"{rank}.json").write_text(json.dumps(note))
    for code, expected in (
        (1, "worker 1 of 3: A: b"),
        (-11, "worker 2 of 3 was killed (SIGSEGV); "),
    ):
        said = what_happened(tmp_path, REPORT.format(code=code), 3)
        assert said.startswith(expected)


def test_what_a_launch_hands_over(monkeypatch, tmp_path):
    assert "--nproc-per-node=3" in launching.command(tmp_path, 3)

    def fails(folder, world_size):
        return [sys.executable, "-c", "import sys; sys.exit('no port')"]

    def copies(folder, world_size):
        return ["cp", f"{folder}/given.pt", f"{folder}/0.pt"]

    monkeypatch.setattr(launching, "command", fails)
    with pytest.raises(WorkerError, match="^torchrun failed: no port$"):
        on_workers("lose_one")
    monkeypatch.setattr(launching, "command", copies)
    assert on_workers("lose_one", world_size=1, a=2) == [{"a": 2}]


def test_the_first_note_stays(tmp_path):
    with pytest.raises(KeyError), launching.noted(tmp_path, "4"):
        try:
            with launching.noted(tmp_path, "4"):
                raise ValueError("first")
        finally:
            raise KeyError
    assert "first" in (tmp_path / "4.json").read_text()


def test_workers_get_the_library_and_no_order_of_another_launch(
    one, monkeypatch
):
    names = [(1, "eth0"), (2, "lo")]
    monkeypatch.setattr(launching.socket, "if_nameindex", lambda: names)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("PET_MAX_RESTARTS", "3")  # a default of torchrun
    monkeypatch.setenv("PYTHONPATH", "further")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth0")
    found = launching.surroundings()
    kept = {"GLOO_SOCKET_IFNAME", "BOOK_DEVICE"}
    assert found.keys() & {*ONE, "PET_MAX_RESTARTS"} == kept
    assert "OMP_NUM_THREADS" in found
    assert found["PYTHONPATH"] == f"{launching.BOOK}{os.pathsep}further"
    assert found["GLOO_SOCKET_IFNAME"] == "eth0"
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.delenv("GLOO_SOCKET_IFNAME")
    found = launching.surroundings()
    assert found["PYTHONPATH"] == str(launching.BOOK)
    assert found["GLOO_SOCKET_IFNAME"] == "lo"
    names.pop()
    assert "GLOO_SOCKET_IFNAME" not in launching.surroundings()


def test_when_time_is_up_torchrun_is_told_to_stop(monkeypatch):
    started, popen = [], subprocess.Popen

    def start(*command, **options):
        started.append(popen(*command, **options))
        return started[0]

    monkeypatch.setattr(launching.subprocess, "Popen", start)
    sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
    monkeypatch.setattr(launching, "command", lambda folder, n: sleep)
    with pytest.raises(TimeoutError, match="within 1 seconds, got none"):
        on_workers("lose_one", limit=1)
    assert started[0].poll() == -signal.SIGTERM


launch = partial(on_workers, "lose_one")
test_what_cannot_be_launched_is_refused = refuses(
    ("task", on_workers, TypeError, "a string", {"int": 7}),
    *no.switch(launch, "count"),
    *no.size(launch, "world_size", "patience", "limit"),
    ("attention", workers.FourMatrices, TypeError, "a MultiHeadAttention",
     {"Linear": nn.Linear(2, 2)}),
)  # fmt: skip
