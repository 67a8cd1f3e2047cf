"""What workers run: all of it in one process, and in several.

Every process of a launch imports torch anew, so what needs several runs in
three launches: one in which all goes well, one in which a worker is killed,
and one in which a worker hangs.
"""

import json
import os
import runpy
import signal
import subprocess
import time
from functools import partial

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
)

from kit import launching, workers
from kit.launching import WorkerError, on_workers, what_happened
from lib import parallel
from lib.heads import MultiHeadAttention
from lib.masks import causal_mask
from lib.parallel import group_of_workers
from lib.training import Batch, label_smoothed_loss
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import close, normal, refused
from tests.library.test_parallel import layers, shares

D64 = torch.float64
LOOPBACK = launching.surroundings()["GLOO_SOCKET_IFNAME"]
ONE = {
    "RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_RANK": "0",
    "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "0",
    "GLOO_SOCKET_IFNAME": LOOPBACK,
    "BOOK_DEVICE": "cpu",
}


@pytest.fixture
def one(monkeypatch):
    """The surroundings of the only worker of a launch."""
    for name, value in ONE.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def alone(one):
    with group_of_workers() as place:
        yield place


def given():
    made, x = layers()
    gradient = normal(2, 5, 12, dtype=D64, seed=1).cpu()
    made = [layer.cpu() for layer in made]
    return {"layers": made, "x": x.cpu(), "gradient": gradient}


def whole(layers, x, gradient):
    """In one process: the outputs, and the gradient by x."""
    x = x.clone().requires_grad_()
    middle = layers[0](x)
    last = layers[1](middle)
    last.backward(gradient)
    return [middle.detach(), last.detach()], x.grad


def test_a_single_worker_joins_on_the_processor_and_leaves(one):
    with pytest.raises(KeyError), group_of_workers() as place:
        assert place == torch.device("cpu") and dist.get_backend() == "gloo"
        assert dist.get_rank() == 0 and dist.get_world_size() == 1
        raise KeyError("x")
    assert not dist.is_initialized()


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
    asked = []
    monkeypatch.setattr(
        dist, "init_process_group", lambda *a, **k: asked.append((a, k))
    )
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
    with group_of_workers(7) as place:
        pass
    ((found,), options) = asked[0]
    assert found == backend and options["timeout"].total_seconds() == 7
    nccl = backend == "nccl"
    assert place == torch.device(f"cuda:{here - 1}" if nccl else "cpu")
    assert options["device_id"] == (place if nccl else None)


@pytest.mark.parametrize("bias", [True, False])
def test_four_matrices_are_the_attention(bias):
    attention = MultiHeadAttention(8, 4, bias=bias).double()
    x, mask = normal(2, 5, 8, dtype=D64).cpu(), causal_mask(5)
    four = workers.FourMatrices(attention)
    close(four(x), attention(x))
    close(four(x, mask), attention(x, may_attend=mask))
    for weight in four.parameters():
        weight.data.zero_()
    assert attention.in_proj.weight.all() and attention.out_proj.weight.all()


def is_whole_by_hand(result):
    """What `there_and_back` gives, beside one process."""
    outputs, slopes = whole(**given())
    for found, wanted in zip(result["outputs"], outputs, strict=True):
        close(found, wanted, steps=64)
    close(result["x"], slopes, steps=512)
    assert len(result["weights"]) == 8


def test_alone_there_and_back_is_the_whole(alone):
    is_whole_by_hand(parallel.there_and_back(**given()))


def by_torch():
    """Two layers as one model, and two plans that differ in one entry."""
    plan = {f"0.to_{name}": ColwiseParallel() for name in "qkv"}
    plan |= {"0.out": RowwiseParallel()}
    plan |= {"1.widen": ColwiseParallel(), "1.narrow": RowwiseParallel()}
    every = (Replicate(),)
    ready = PrepareModuleInput(
        input_layouts=every, desired_input_layouts=every
    )
    arguments = given()
    attention, network = arguments.pop("layers")
    model = nn.Sequential(workers.FourMatrices(attention), network)
    plans = {"plain": plan, "prepared": plan | {"0": ready}}
    return arguments | {"model": model, "plans": plans}


def is_whole(found):
    """What PyTorch's plans give, beside one process."""
    outputs, slopes = whole(**given())
    assert list(found) == ["plain", "prepared"]
    for result in found.values():
        close(result["output"], outputs[1], steps=64)
        close(result["x"], slopes, steps=512)
        assert len(result["weights"]) == 12
        assert type(result["output"]) is type(result["x"]) is torch.Tensor


def test_alone_the_plans_of_torch_give_the_whole(alone):
    is_whole(workers.by_torch(**by_torch()))


def test_traffic_sees_sums_and_nothing_else(alone):
    x = torch.ones(3, 2, dtype=D64)
    with workers.Traffic() as traffic:
        x * 2
        dist.all_reduce(x)
        dist.broadcast(x, src=0)
        dist.all_reduce(torch.ones(5))
    dist.all_reduce(x)
    assert traffic.sizes == [48, 20]


def pairs():
    """Two rows for each of three workers, those of worker 1 much longer."""
    torch.manual_seed(5)
    rows = []
    for width in (2, 6, 3, 1, 7, 3):
        ids = torch.randint(3, 9, (width,))
        rows.append(nn.functional.pad(ids, (0, 7 - width)))
    target = torch.stack(rows)
    inputs = torch.cat([torch.ones(6, 1).long(), target[:, :-1]], 1)
    return Batch(torch.randint(3, 9, (6, 4)), inputs, target)


def model():
    torch.manual_seed(6)
    sizes = (8, 2, 16, 1, 1)
    config = TransformerConfig(9, 9, *sizes, dropout=0.0, tied="none")
    return Transformer(config).double()


def by_itself(batch, steps, rate=0.1):
    """The losses and the weights of one process with all rows."""
    one, losses = model(), []
    descent = torch.optim.SGD(one.parameters(), rate)
    for _ in range(steps):
        logits = one(batch.source, batch.decoder_input)
        loss = label_smoothed_loss(logits, batch.target)
        descent.zero_grad()
        loss.backward()
        descent.step()
        losses.append(loss.detach())
    return torch.stack(losses), [weight.data for weight in one.parameters()]


def is_trained(result, ways):
    """As in one process, if counted in these ways."""
    losses, weights = by_itself(pairs(), len(result["tokens"]))
    for way in ways:
        close(result[way], losses, steps=64)
    for found, wanted in zip(result["weights"], weights, strict=True):
        close(found, wanted, steps=512)
    return losses


def test_alone_training_is_a_plain_loop(alone):
    start = model()
    result = workers.train_both_ways(model=start, batches=[pairs()] * 3)
    is_trained(result, ("tokens", "workers"))
    for kept, fresh in zip(
        start.parameters(), model().parameters(), strict=True
    ):
        assert torch.equal(kept, fresh)


def test_worker_1_meets_its_fate_and_tasks_are_done_in_turn(
    alone, monkeypatch
):
    met = []
    lose = partial(parallel.lose_one, partial(met.append, 1))
    assert lose().item() == 1 and not met
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    found = workers.in_turn(b=lose, a=met.copy)
    assert [*found] == ["b", "a"] and found["a"] == [1]


# What kit.launching does in one process.


def order(folder, task, count=False, **given):
    torch.save((task, 60, count), folder / "task.pt")
    torch.save(given, folder / "given.pt")


def as_program(folder, monkeypatch):
    """`python -m kit.launching FOLDER`, in this process."""
    monkeypatch.setattr("sys.argv", ["launching", str(folder)])
    runpy.run_path(launching.__file__, run_name="__main__")


def test_a_worker_does_as_it_is_told(tmp_path, monkeypatch, one):
    order(tmp_path, "lose_one", fate=print)
    as_program(tmp_path, monkeypatch)
    assert launching.read(tmp_path / "0.pt").tolist() == [1]
    order(tmp_path, "there_and_back", count=True, **given())
    launching.work(tmp_path)
    result = launching.read(tmp_path / "0.pt")
    close(result["x"], whole(**given())[1], steps=64)
    assert result["sums"] == [result["x"].nbytes] * 4
    order(tmp_path, "math:floor", x=0.5)  # it takes no keywords
    with pytest.raises(TypeError):
        launching.work(tmp_path)
    note = json.loads((tmp_path / "0.json").read_text())
    assert note["rank"] == "0" and note["error"].startswith("TypeError: ")
    assert not dist.is_initialized()


def test_an_error_of_a_worker_is_handed_over(tmp_path, monkeypatch, one):
    def fail(*_, **__):
        raise OSError("no way to the others")

    monkeypatch.setattr(dist, "get_world_size", lambda: 4)
    order(tmp_path, "there_and_back", **given())
    with pytest.raises(ValueError):
        launching.work(tmp_path)
    error = "ValueError: heads: expected a multiple of the 4 workers, got 6"
    assert what_happened(tmp_path, "", 4) == f"worker 0 of 4: {error}"
    (tmp_path / "0.json").unlink()
    monkeypatch.setattr(dist, "init_process_group", fail)
    with pytest.raises(OSError):
        launching.work(tmp_path)
    error = "OSError: no way to the others"
    assert what_happened(tmp_path, "", 2) == f"worker 0 of 2: {error}"


def test_the_first_note_stays_and_names_no_path_of_pytorch(tmp_path):
    with pytest.raises(ZeroDivisionError), launching.noted(tmp_path, "4"):
        try:
            with launching.noted(tmp_path, "4"):
                raise ValueError("[/a/b.cc:78] Timed out waiting 5000ms")
        finally:
            raise ZeroDivisionError
    note = json.loads((tmp_path / "4.json").read_text())
    assert note["error"] == "ValueError: Timed out waiting 5000ms"


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
    assert what_happened(tmp_path, "no port\n", 3) == (
        "torchrun failed: no port"
    )
    for rank, seconds, error in ((1, 5.0, "A: b"), (0, 7.0, "Closed: c")):
        note = {"rank": str(rank), "time": seconds, "error": error}
        (tmp_path / f"{rank}.json").write_text(json.dumps(note))
    for code, expected in (
        (1, "worker 1 of 3: A: b"),
        (-11, "worker 2 of 3 was killed (SIGSEGV); "),
    ):
        said = what_happened(tmp_path, REPORT.format(code=code), 3)
        assert said.startswith(expected)


def test_workers_get_the_library_and_no_order_of_another_launch(
    one, monkeypatch
):
    names = [(1, "eth0"), (2, "lo")]
    monkeypatch.setattr(launching.socket, "if_nameindex", lambda: names)
    monkeypatch.setenv("PET_MAX_RESTARTS", "3")  # a default of torchrun
    monkeypatch.setenv("PYTHONPATH", "further")
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "eth0")
    found = launching.surroundings()
    orders = {*ONE, "PET_MAX_RESTARTS"} - {"GLOO_SOCKET_IFNAME", "BOOK_DEVICE"}
    assert not orders & set(found) and "OMP_NUM_THREADS" in found
    assert found["PYTHONPATH"] == f"{launching.BOOK}{os.pathsep}further"
    assert found["GLOO_SOCKET_IFNAME"] == "eth0"
    monkeypatch.delenv("PYTHONPATH")
    monkeypatch.delenv("GLOO_SOCKET_IFNAME")
    found = launching.surroundings()
    assert found["PYTHONPATH"] == str(launching.BOOK)
    assert found["GLOO_SOCKET_IFNAME"] == "lo"
    del names[1]
    assert "GLOO_SOCKET_IFNAME" not in launching.surroundings()


@pytest.mark.bad_input
def test_what_cannot_be_launched_is_refused():
    with refused(TypeError, "task", "a string", "int"):
        on_workers(7)
    with refused(TypeError, "count", "True or False", "int"):
        on_workers("lose_one", count=1)
    for name in ("world_size", "patience", "limit"):
        with refused(ValueError, name, "at least 1", "0"):
            on_workers("lose_one", **{name: 0})
    with refused(TypeError, "attention", "a MultiHeadAttention", "Linear"):
        workers.FourMatrices(nn.Linear(2, 2))


# In several processes.


@pytest.fixture(scope="module")
def in_three():
    """What three processes make of all that is asked of them."""
    return on_workers(
        "kit.workers:in_turn",
        world_size=3,
        count=True,
        by_hand=partial(parallel.there_and_back, **given()),
        by_torch=partial(workers.by_torch, **by_torch()),
        trained=partial(
            workers.train_both_ways, model=model(), batches=[pairs()] * 4
        ),
    )


@pytest.mark.slow
def test_three_processes_are_one(in_three):
    arguments = given()
    whole(**arguments)
    for rank, result in enumerate(in_three):
        is_whole_by_hand(result["by_hand"])
        is_whole(result["by_torch"])
        wanted = shares(*arguments["layers"], rank, lambda w: w.grad)
        weights = result["by_hand"]["weights"]
        for found, expected in zip(weights, wanted, strict=True):
            close(found, expected, steps=512)


@pytest.mark.slow
def test_four_tensors_are_summed_by_hand_and_six_or_four_by_torch(in_three):
    size = given()["x"].nbytes
    for result in in_three:
        found = result["by_torch"]
        assert found["plain"]["sums"] == [size] * 6
        assert found["prepared"]["sums"] == [size] * 4
        by_hand, by_torch = result["sums"][:4], result["sums"][4:14]
        assert by_hand == [size] * 4 and by_torch == [size] * 10
        assert result["sums"][14] != size  # then they train


@pytest.mark.slow
def test_three_processes_train_as_one_if_tokens_count_the_same(in_three):
    for result in in_three:
        losses = is_trained(result["trained"], ["tokens"])
        assert (result["trained"]["workers"] - losses).abs().min() > 1e-4


@pytest.mark.slow
def test_a_killed_worker_is_named():
    fate = partial(signal.raise_signal, signal.SIGKILL)
    with pytest.raises(WorkerError) as caught:
        on_workers("lose_one", world_size=2, fate=fate)
    expected = "worker 1 of 2 was killed (SIGKILL); the others could not go on"
    assert str(caught.value) == f"{expected} alone"


@pytest.mark.slow
def test_a_worker_that_hangs_is_given_up():
    with pytest.raises(WorkerError) as caught:
        on_workers(
            "lose_one",
            world_size=2,
            patience=20,
            fate=partial(time.sleep, 300),
        )
    assert "worker 0 of 2" in str(caught.value)
    assert "imed out" in str(caught.value)


HANGS = """\
import os, sys, time
from pathlib import Path
path = Path(sys.argv[1], "started")
path.write_text(str(os.getpid()))
path.rename(path.with_name("hangs"))
time.sleep(300)
"""


@pytest.mark.slow
def test_when_time_is_up_all_are_stopped(tmp_path, monkeypatch):
    (tmp_path / "hangs.py").write_text(HANGS)
    started = tmp_path / "hangs"

    class UntilItHangs(subprocess.Popen):
        def communicate(self, input=None, timeout=None):
            if timeout is None:
                return super().communicate()
            assert timeout == 7
            while not started.exists() and self.poll() is None:
                time.sleep(0.1)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(launching.subprocess, "Popen", UntilItHangs)
    *torchrun, _, _, folder = launching.command(tmp_path, 1)
    script = str(tmp_path / "hangs.py")  # it need not import torch
    with pytest.raises(TimeoutError, match="within 7 seconds, got none"):
        launching.finished([*torchrun, script, folder], 7)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
