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
from lib.layers import FeedForward
from lib.masks import causal_mask
from lib.parallel import group_of_workers, shard
from lib.training import Batch, label_smoothed_loss
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import close, normal, refused

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


def layers():
    torch.manual_seed(4)
    made = [MultiHeadAttention(12, 6), FeedForward(12, 18)]
    for layer in made:
        for weight in layer.parameters():
            nn.init.normal_(weight, std=0.4)
        layer.double()
    return made, normal(2, 5, 12, dtype=D64).cpu()


def given():
    made, x = layers()
    gradient = normal(2, 5, 12, dtype=D64, seed=1).cpu()
    return {"layers": made, "x": x, "gradient": gradient}


def whole(layers, x, gradient):
    """In one process: the outputs, and the gradient by x."""
    x = x.clone().requires_grad_()
    middle = layers[0](x)
    last = layers[1](middle)
    last.backward(gradient)
    return [middle.detach(), last.detach()], x.grad


def test_a_single_worker_joins_on_the_processor(alone):
    assert alone == torch.device("cpu")
    assert dist.get_rank() == 0 and dist.get_world_size() == 1
    assert dist.get_backend() == "gloo"


def test_a_group_is_left_when_something_fails(one):
    with pytest.raises(KeyError), group_of_workers():
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


def test_four_matrices_are_the_attention():
    for bias in (True, False):
        attention = MultiHeadAttention(8, 4, bias=bias).double()
        x = normal(2, 5, 8, dtype=D64).cpu()
        mask = causal_mask(5)
        four = workers.FourMatrices(attention)
        close(four(x), attention(x))
        close(four(x, mask), attention(x, may_attend=mask))
        four.to_q.weight.data.zero_()
        four.out.weight.data.zero_()
        assert attention.in_proj.weight.all()
        assert attention.out_proj.weight.all()


def test_alone_there_and_back_is_the_whole(alone):
    outputs, slopes = whole(**given())
    result = parallel.there_and_back(**given())
    for found, wanted in zip(result["outputs"], outputs, strict=True):
        close(found, wanted, steps=64)
    close(result["x"], slopes, steps=64)
    assert len(result["weights"]) == 8


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
    assert traffic.sizes == [48, 20]
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
    for _ in range(steps):
        logits = one(batch.source, batch.decoder_input)
        loss = label_smoothed_loss(logits, batch.target)
        one.zero_grad()
        loss.backward()
        with torch.no_grad():
            for weight in one.parameters():
                weight -= rate * weight.grad
        losses.append(loss.detach())
    return torch.stack(losses), list(one.parameters())


def test_alone_training_is_a_plain_loop(alone):
    start, batch = model(), pairs()
    result = workers.train_both_ways(model=start, batches=[batch] * 3)
    losses, weights = by_itself(batch, 3)
    for way in ("tokens", "workers"):
        close(result[way], losses, steps=64)
    for found, wanted in zip(result["weights"], weights, strict=True):
        close(found, wanted.detach(), steps=512)
    for kept, fresh in zip(
        start.parameters(), model().parameters(), strict=True
    ):
        assert torch.equal(kept, fresh)


def test_worker_1_meets_its_fate(alone, monkeypatch):
    met = []
    assert parallel.lose_one(partial(met.append, 1)).item() == 1 and not met
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    parallel.lose_one(partial(met.append, 1))
    assert met == [1]


def test_several_tasks_are_done_in_turn():
    done = []
    found = workers.in_turn(
        b=partial(done.append, 1), a=partial(done.append, 2), c=done.copy
    )
    assert found == {"b": None, "a": None, "c": [1, 2]} and done == [1, 2]


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
    monkeypatch.setattr(dist, "get_world_size", lambda: 4)
    order(tmp_path, "there_and_back", **given())
    with pytest.raises(ValueError):
        launching.work(tmp_path)
    error = "ValueError: heads: expected a multiple of the 4 workers, got 6"
    assert what_happened(tmp_path, "", 4) == f"worker 0 of 4: {error}"


def test_a_worker_that_cannot_join_says_why(tmp_path, monkeypatch, one):
    def fail(*_, **__):
        raise OSError("no way to the others")

    monkeypatch.setattr(dist, "init_process_group", fail)
    order(tmp_path, "lose_one", fate=print)
    with pytest.raises(OSError):
        launching.work(tmp_path)
    error = "OSError: no way to the others"
    assert what_happened(tmp_path, "", 2) == f"worker 0 of 2: {error}"


def test_the_first_note_of_a_worker_stays(tmp_path):
    with pytest.raises(ZeroDivisionError), launching.noted(tmp_path, "0"):
        try:
            with launching.noted(tmp_path, "0"):
                raise ValueError("first")
        finally:
            raise ZeroDivisionError
    note = json.loads((tmp_path / "0.json").read_text())
    assert note["error"] == "ValueError: first"


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
    said = REPORT.format(code=1)
    assert what_happened(tmp_path, said, 3) == "worker 1 of 3: A: b"
    said = REPORT.format(code=-11)
    expected = "worker 2 of 3 was killed (SIGSEGV); "
    assert what_happened(tmp_path, said, 3).startswith(expected)


def test_a_path_of_pytorch_is_left_out(tmp_path):
    with pytest.raises(RuntimeError), launching.noted(tmp_path, "4"):
        raise RuntimeError("[/a/b.cc:78] Timed out waiting 5000ms")
    note = json.loads((tmp_path / "4.json").read_text())
    assert note["error"] == "RuntimeError: Timed out waiting 5000ms"


def test_workers_get_the_library_and_no_order_of_another_launch(one):
    found = launching.surroundings()
    assert found["PYTHONPATH"].split(os.pathsep)[0] == str(launching.BOOK)
    kept = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT"} & set(found)
    assert not kept and found["GLOO_SOCKET_IFNAME"] == LOOPBACK
    assert "OMP_NUM_THREADS" in found


def test_workers_find_what_this_process_finds(monkeypatch):
    monkeypatch.setenv("PET_MAX_RESTARTS", "3")  # a default of torchrun
    monkeypatch.setenv("PYTHONPATH", "further")
    monkeypatch.delenv("GLOO_SOCKET_IFNAME", raising=False)
    names = [(1, "eth0"), (2, "lo")]
    monkeypatch.setattr(launching.socket, "if_nameindex", lambda: names)
    found = launching.surroundings()
    assert found["PYTHONPATH"] == f"{launching.BOOK}{os.pathsep}further"
    assert found["GLOO_SOCKET_IFNAME"] == "lo"
    assert "PET_MAX_RESTARTS" not in found
    monkeypatch.setattr(launching.socket, "if_nameindex", lambda: names[:1])
    monkeypatch.delenv("PYTHONPATH")
    found = launching.surroundings()
    assert found["PYTHONPATH"] == str(launching.BOOK)
    assert "GLOO_SOCKET_IFNAME" not in found


@pytest.mark.bad_input
def test_a_wrong_count_is_refused():
    with refused(TypeError, "count", "True or False", "int"):
        on_workers("lose_one", count=1)


@pytest.mark.bad_input
def test_what_cannot_be_launched_is_refused():
    with refused(TypeError, "task", "a string", "int"):
        on_workers(7)
    for name in ("world_size", "patience", "limit"):
        with refused(ValueError, name, "at least 1", "0"):
            on_workers("lose_one", **{name: 0})


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
    outputs, slopes = whole(**given())
    for result in in_three:
        found = result["by_hand"]
        for output, expected in zip(found["outputs"], outputs, strict=True):
            close(output, expected, steps=64)
        close(found["x"], slopes, steps=512)


@pytest.mark.slow
def test_every_weight_of_three_processes_has_its_gradient(in_three):
    arguments = given()
    heads, units = arguments["layers"]
    whole(**arguments)
    wide = heads.in_proj.weight.grad.view(3, 12, 12)
    for rank, result in enumerate(in_three):
        own = shard(12, rank, 3)
        hidden = shard(18, rank, 3)
        expected = [
            heads.out_proj.bias.grad,
            wide[:, own].flatten(0, 1),
            heads.in_proj.bias.grad.view(3, 12)[:, own].flatten(),
            heads.out_proj.weight.grad.T[own],
            units.narrow.bias.grad,
            units.widen.weight.grad[hidden],
            units.widen.bias.grad[hidden],
            units.narrow.weight.grad.T[hidden],
        ]
        weights = result["by_hand"]["weights"]
        for found, wanted in zip(weights, expected, strict=True):
            close(found, wanted, steps=512)


@pytest.mark.slow
def test_three_processes_by_torch_are_one(in_three):
    for result in in_three:
        is_whole(result["by_torch"])


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
    losses, weights = by_itself(pairs(), 4)
    for result in (result["trained"] for result in in_three):
        close(result["tokens"], losses, steps=64)
        for found, wanted in zip(result["weights"], weights, strict=True):
            close(found, wanted.detach(), steps=512)
        apart = (result["workers"] - losses).abs()
        assert apart.min() > 1e-4


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
