"""lib.training: loss, rate, steps, and runs that are stopped in every way."""

import math
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lib import training
from lib.training import (
    Batch,
    Recipe,
    Trainer,
    cosine_rate,
    exact_match,
    label_smoothed_loss,
    load_checkpoint,
    save_checkpoint,
    train,
    warmup_rate,
)
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import DEVICE, normal, refused, same

BAD = pytest.mark.bad_input
ROOT = Path(__file__).resolve().parents[2]
SIZES = {"d_model": 8, "heads": 2, "d_ff": 16}
LAYERS = {"encoder_layers": 1, "decoder_layers": 1}


def rate(step):
    return warmup_rate(step, 8, 5)


def data(count=7, batch=4, seed=0):
    """Copying: 5 tokens in, the same 5 out."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(4, 11, (count, batch, 5), generator=generator)
    ends = torch.ones(count, batch, 1, dtype=torch.int64)
    targets = torch.cat([ids, 2 * ends], -1), torch.cat([ends, ids], -1)
    return [
        Batch(*row) for row in zip(ids, targets[1], targets[0], strict=True)
    ]


def trainer(dropout=0.0, **recipe):
    torch.manual_seed(0)
    config = TransformerConfig(11, 11, **SIZES, **LAYERS, dropout=dropout)
    return Trainer(Transformer(config).to(DEVICE), Recipe(rate, **recipe))


def weights(trained):
    named = trained.model.state_dict() | {
        f"average.{name}": tensor
        for name, tensor in trained.average.state_dict().items()
    }
    return {name: tensor.clone() for name, tensor in named.items()}


def same_weights(one, other):
    assert one.keys() == other.keys()
    for name in one:
        same(one[name], other[name])


# --- loss and rate


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 3, 5)])
def test_loss_is_torchs(smoothing, shape):
    logits = normal(*shape, 11, dtype=torch.float64, scale=5.0)
    logits.requires_grad_()
    target = (normal(*shape).abs() * 50).long() % 10
    target.view(-1)[0] = 3
    oracle = nn.CrossEntropyLoss(label_smoothing=smoothing, ignore_index=0)
    expected = oracle(logits.view(-1, 11), target.view(-1))
    actual = label_smoothed_loss(logits, target, smoothing)
    torch.testing.assert_close(actual, expected, atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(
        *torch.autograd.grad(actual, logits),
        *torch.autograd.grad(expected, logits),
    )


def test_loss_ignores_another_pad_and_is_nan_without_targets():
    logits, target = normal(3, 11), torch.tensor([5, 7, 5]).to(DEVICE)
    only = label_smoothed_loss(logits[1:2], target[1:2])
    torch.testing.assert_close(
        label_smoothed_loss(logits, target, pad_id=5), only
    )
    assert label_smoothed_loss(logits, 0 * target).isnan()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("ignored", [-100, -1, 99])
def test_what_is_ignored_need_not_be_in_the_vocabulary(smoothing, ignored):
    logits = normal(3, 5, 11, dtype=torch.float64, scale=5.0)
    logits.requires_grad_()
    target = (normal(3, 5).abs() * 50).long() % 11
    target[0, 1:], target[2, 2] = ignored, ignored
    oracle = {"ignore_index": ignored, "label_smoothing": smoothing}
    expected = F.cross_entropy(logits.mT, target, **oracle)
    actual = label_smoothed_loss(logits, target, smoothing, ignored)
    torch.testing.assert_close(actual, expected)
    gradients = (torch.autograd.grad(x, logits)[0] for x in (actual, expected))
    torch.testing.assert_close(*gradients)


def test_loss_by_hand():
    logits = torch.tensor([[math.log(6), math.log(3), 0.0]])
    target = torch.tensor([1])
    plain = label_smoothed_loss(logits, target, 0.0)
    assert plain.item() == pytest.approx(math.log(10 / 3))
    smooth = label_smoothed_loss(logits, target, 0.3)
    mean = -(math.log(0.6) + math.log(0.3) + math.log(0.1)) / 3
    wanted = 0.7 * math.log(10 / 3) + 0.3 * mean
    assert smooth.item() == pytest.approx(wanted)


def test_warmup_rate():
    rates = [warmup_rate(step, 64, 200) for step in range(1, 1001)]
    assert rates[199] == max(rates) == pytest.approx(0.125 * 200**-0.5)
    for low, high in pairwise(rates[:200]):
        assert high - low == pytest.approx(rates[0])
    assert rates[799] == pytest.approx(rates[199] / 2)
    assert warmup_rate(1, 512, 4000) == pytest.approx(1.747e-7, rel=1e-3)


def test_cosine_rate():
    """A line up, half a cosine down: as torch's two schedulers, chained."""
    rates = [cosine_rate(step, 0.006, 100, 900) for step in range(1, 901)]
    assert rates[99] == max(rates) == 0.006
    assert rates[49] == 0.003 and rates[-1] == 0.0
    for low, high in pairwise(rates[:100]):
        assert high - low == pytest.approx(0.006 / 100)
    optimiser = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.006)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 800)
    for rate_here in rates[99:]:
        (expected,) = falling.get_last_lr()
        assert rate_here == pytest.approx(expected, abs=1e-12)
        optimiser.step()
        falling.step()


def test_cosine_rate_without_warmup_begins_near_the_peak():
    rates = [cosine_rate(step, 1.0, 0, 3) for step in (1, 2, 3)]
    assert rates == pytest.approx([0.75, 0.25, 0.0])


# --- one step


def test_what_a_recipe_is_if_nobody_says_otherwise():
    assert Recipe(rate).numbers(0) == {
        "rate": rate(1),
        "smoothing": 0.1,
        "clip": 1.0,
        "averaging": 0.98,
        "pad_id": 0,
    }


def test_a_step_is_torchs_adam():
    """Without averaging and clipping, against a loop in torch.

    In float64: the gradient of a key's bias is 0, and Adam makes full steps
    of its rounding errors.
    """
    ours, other = trainer(averaging=0.0, clip=1e9), trainer().model.double()
    ours.model.double()
    ours.average.double()
    adam = torch.optim.Adam(other.parameters(), 1, (0.9, 0.98), 1e-9)
    loss_of = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
    for number, batch in enumerate(data(), 1):
        source, decoder_input, target = batch.to(DEVICE)
        loss = loss_of(other(source, decoder_input).mT, target)
        adam.zero_grad()
        loss.backward()
        adam.param_groups[0]["lr"] = 8**-0.5 * min(
            number**-0.5, number * 5**-1.5
        )
        adam.step()
        assert ours.step(batch) == pytest.approx(loss.item(), rel=1e-9)
    for one, two in zip(
        ours.model.parameters(), other.parameters(), strict=True
    ):
        torch.testing.assert_close(one, two, atol=1e-6, rtol=1e-6)
    for one, two in zip(
        ours.average.parameters(), ours.model.parameters(), strict=True
    ):
        same(one.data, two.data)


def test_the_recipe_says_which_target_does_not_count():
    """Token 5 is the PAD of this recipe: it costs nothing.

    Every second target is a 5, and the model is sure about it, for or
    against: to count it must show, whatever the weights are.
    """
    batch = data()[0].to(DEVICE)
    batch.target[:, ::2] = 5
    ours = trainer(pad_id=5, averaging=0.0)
    with torch.no_grad():
        ours.model.tables.output_matrix[5] *= 100
    logits = ours.model(batch.source, batch.decoder_input)
    expected = label_smoothed_loss(logits, batch.target, 0.1, 5).item()
    assert ours.step(batch) == pytest.approx(expected, rel=1e-2)
    counted = label_smoothed_loss(logits, batch.target, 0.1, 0).item()
    assert abs(counted - expected) > 0.05 * expected


@pytest.mark.skipif(DEVICE.type != "cpu", reason="half precision on a GPU")
def test_on_a_cpu_nothing_is_computed_in_half_precision():
    ours, seen = trainer(), set()
    for module in ours.model.modules():
        module.register_forward_hook(
            lambda module, inputs, output: seen.add(output.dtype)
        )
    ours.step(data()[0])
    assert seen == {torch.float32}


def test_a_loss_that_is_none_names_the_batch_if_nobody_names_it():
    ours = trainer()
    with torch.no_grad():
        ours.model.encoder.blocks[0].feed_forward.widen.weight[0, 0] = math.nan
    with pytest.raises(FloatingPointError, match="at step 1, the batch;"):
        ours.step(data()[0])


def test_gradients_are_clipped():
    ours = trainer(dropout=0.0, clip=0.01)
    ours.step(data()[0])
    grads = [p.grad.flatten() for p in ours.model.parameters()]
    assert torch.cat(grads).norm().item() == pytest.approx(0.01, rel=1e-3)


def test_the_average_trails_the_weights():
    ours = trainer(averaging=0.75)
    name = "decoder.blocks.0.feed_forward.widen.weight"
    expected = ours.model.state_dict()[name].clone()
    for batch in data(3):
        ours.step(batch)
        expected = 0.75 * expected + 0.25 * ours.model.state_dict()[name]
    torch.testing.assert_close(ours.average.state_dict()[name], expected)
    assert not any(p.requires_grad for p in ours.average.parameters())


@pytest.mark.slow
def test_training_learns():
    torch.manual_seed(0)
    config = TransformerConfig(11, 11, 32, 4, 64, 1, 1, 0.0)
    recipe = Recipe(lambda k: 0.7 * warmup_rate(k, 32, 60))
    ours = Trainer(Transformer(config).to(DEVICE), recipe)
    losses = train(ours, data(400, 64), 300)
    assert len(losses) == 300 and losses[-1] < 0.6 * losses[0]
    assert exact_match(ours.average, data(5, 64, seed=1)) > 0.9
    assert exact_match(trainer().model, data(5, 64, seed=1)) < 0.1


def test_training_turns_dropout_on():
    once, ours = trainer(0.5), trainer(0.5)
    ours.model.eval()
    for one in (once, ours):
        torch.manual_seed(0)
        train(one, data(), 2)
    assert once.losses == ours.losses and ours.model.training


def test_exact_match_counts_whole_sequences():
    class Table(nn.Module):
        def __init__(self, best):
            super().__init__()
            self.best = nn.Parameter(best)

        def forward(self, source, decoder_input):
            assert not torch.is_grad_enabled() and not self.training
            return self.best

    target = torch.tensor([[5, 2, 0], [6, 7, 2], [6, 7, 2], [2, 0, 0]])
    said = torch.tensor([[5, 2, 9], [6, 7, 2], [6, 5, 2], [9, 0, 0]])
    model = Table(nn.functional.one_hot(said, 11).float().to(DEVICE))
    share = exact_match(model, [Batch(target, target, target)])
    assert type(share) is float and share == 0.5
    assert model.training
    model.eval()
    exact_match(model, [Batch(target, target, target)])
    assert not model.training


# --- stopping and going on


def test_a_run_in_two_parts_is_the_run():
    once, twice = trainer(0.1), trainer(0.1)
    torch.manual_seed(0)
    train(once, data(), 20)
    state = torch.get_rng_state()
    torch.manual_seed(0)
    train(twice, data(), 9)
    assert len(twice.losses) == 9
    train(twice, data(), 20)
    assert once.losses == twice.losses
    same_weights(weights(once), weights(twice))
    same(torch.get_rng_state(), state)


def test_a_run_continues_from_a_file(tmp_path):
    once, part, rest = trainer(0.1), trainer(0.1), trainer(0.1)
    torch.manual_seed(0)
    train(once, data(), 20)
    torch.manual_seed(0)
    train(part, data(), 13, tmp_path / "a.safetensors", every=5)
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in rest.model.parameters():
            weight.fill_(7.0)
    train(rest, data(), 20, str(tmp_path / "a.safetensors"))
    assert rest.losses == once.losses
    same_weights(weights(rest), weights(once))
    assert os.listdir(tmp_path) == ["a.safetensors"]
    again = trainer(0.1)
    assert train(again, data(), 20, tmp_path / "a.safetensors") == once.losses


@pytest.mark.parametrize(
    "steps, every, saved",
    [
        (1, {}, [1]),
        (250, {}, [100, 200, 250]),
        (6, {"every": 4}, [4, 6]),
        (8, {"every": 4}, [4, 8]),
        (3, {"every": 1}, [1, 2, 3]),
    ],
)
def test_a_checkpoint_is_written_now_and_then_and_at_the_end(
    steps, every, saved, tmp_path, monkeypatch
):
    ours, found = trainer(), []
    monkeypatch.setattr(
        training,
        "save_checkpoint",
        lambda t, path: found.append(len(t.losses)),
    )
    ours.step = lambda batch, name: ours.losses.append(1.0) or 1.0
    train(ours, data(), steps, tmp_path / "never", **every)
    assert found == saved


SCRIPT = """
import sys, torch
torch.set_num_threads(1)
from tests.library.test_training import data, trainer
from lib.training import train
from lib.runtime import setup
setup()
ours = trainer(0.1)
step = ours.step
def told(*args):
    loss = step(*args)
    print(len(ours.losses), flush=True)
    return loss
ours.step = told
train(ours, data(), int(sys.argv[2]), sys.argv[1], every=int(sys.argv[3]))
"""


def start(path, steps, every):
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), str(steps), str(every)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ
        | {"PYTHONPATH": f"{ROOT}:{ROOT / 'book'}", "OMP_NUM_THREADS": "1"},
    )


def wait_for(process, step):
    for line in process.stdout:
        if int(line) >= step:
            return
    pytest.fail(process.stderr.read())


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_bits(tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    start(whole, 60, 100).communicate()
    for step, signal_number in ((11, signal.SIGKILL), (38, signal.SIGKILL)):
        process = start(killed, 60, 3)
        wait_for(process, step)
        process.send_signal(signal_number)
        process.communicate()
        assert process.returncode == -signal_number
    process = start(killed, 60, 3)
    first = int(process.stdout.readline())
    assert 36 <= first < 60, process.stderr.read()
    process.communicate()
    assert process.returncode == 0
    assert killed.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_ctrl_c_saves(tmp_path):
    path, whole = tmp_path / "stopped", tmp_path / "whole"
    process = start(path, 100_000, 100_000)
    wait_for(process, 5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt: after step" in err
    done = int(err.rsplit("step", 1)[1])
    assert 5 <= done < 100_000
    start(whole, done, 100_000).communicate()
    assert path.read_bytes() == whole.read_bytes()


def test_ctrl_c_without_a_file_leaves_a_trainer_that_goes_on(monkeypatch):
    once, ours = trainer(), trainer()
    train(once, data(), 9)
    step = Trainer.step

    def interrupted(self, *batch):
        if len(self.losses) == 4:
            signal.raise_signal(signal.SIGINT)
        return step(self, *batch)

    monkeypatch.setattr(Trainer, "step", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="after step 5"):
        train(ours, data(), 9)
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(ours.losses) == 5
    monkeypatch.undo()
    train(ours, data(), 9)
    same_weights(weights(once), weights(ours))


def test_a_second_ctrl_c_interrupts_at_once(monkeypatch):
    def stuck(self, *batch):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        time.sleep(60)

    monkeypatch.setattr(Trainer, "step", stuck)
    ours = trainer()
    with pytest.raises(KeyboardInterrupt):
        train(ours, data(), 9)
    assert ours.losses == []


def test_nan_stops_and_names_step_and_batch():
    ours = trainer()
    good = data(3)
    train(ours, good, 4)
    before = weights(ours)
    weight = ours.model.encoder.blocks[0].feed_forward.widen.weight
    with torch.no_grad():
        weight[0, 0] = math.nan
    changed = weights(ours)
    wanted = "got nan at step 5, batch 1 of 3; the weights are those before"
    with pytest.raises(FloatingPointError, match=wanted) as caught:
        train(ours, good, 9)
    assert str(caught.value).startswith("loss: expected a finite number")
    assert len(ours.losses) == 4
    same_weights(weights(ours), changed)
    with torch.no_grad():
        weight.copy_(before["encoder.blocks.0.feed_forward.widen.weight"])
    assert len(train(ours, good, 9)) == 9


def test_training_works_outside_the_main_thread():
    ours, errors = trainer(), []

    def work():
        try:
            train(ours, data(), 5)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == [] and len(ours.losses) == 5


@pytest.mark.parametrize(
    ("tty", "kernel", "environment", "seen"),
    [
        (True, False, "", True),
        (False, True, "0", True),
        (False, False, "", False),
        (True, True, "1", False),
    ],
)
def test_the_bar_shows_to_people_only(
    monkeypatch, capsys, tty, kernel, environment, seen
):
    monkeypatch.setenv("TQDM_DISABLE", environment)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if kernel:
        monkeypatch.setitem(sys.modules, "ipykernel", pytest)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: tty, raising=False)
    ours = trainer()
    train(ours, data(), 3)
    train(ours, data(), 5)
    told = capsys.readouterr()
    assert told.out == ""
    assert ("5/5" in told.err and "loss=" in told.err) == seen
    assert bool(told.err) == seen


# --- checkpoints


@pytest.fixture
def saved(tmp_path):
    ours = trainer()
    train(ours, data(), 3)
    save_checkpoint(ours, tmp_path / "a")
    return tmp_path / "a"


def shared_everywhere(tied):
    """A model that has one block, and one weight, in two places."""
    torch.manual_seed(0)
    config = TransformerConfig(
        11,
        11,
        **SIZES,
        dropout=0.0,
        encoder_layers=2,
        decoder_layers=2,
        tied=tied,
    )
    model = Transformer(config).to(DEVICE)
    model.decoder.blocks[1] = model.decoder.blocks[0]
    one, two = (block.feed_forward for block in model.encoder.blocks)
    two.widen.weight = one.widen.weight
    return Trainer(model, Recipe(rate))


@pytest.mark.parametrize("tied", ["none", "target", "all"])
def test_modules_that_share_their_weights_are_saved(tmp_path, tied):
    once, stopped, path = *(shared_everywhere(tied) for _ in "ab"), "a"
    train(once, data(), 6)
    train(stopped, data(), 3, tmp_path / path)
    other = shared_everywhere(tied)
    train(other, data(), 6, tmp_path / path)
    assert other.losses == once.losses
    same_weights(weights(other), weights(once))
    blocks = other.model.decoder.blocks
    assert blocks[0] is blocks[1]


def test_a_weight_that_is_not_contiguous_is_saved(tmp_path):
    ours, other = (Trainer(nn.Linear(3, 2), Recipe(rate)) for _ in "ab")
    ours.model.weight.data = normal(3, 2).cpu().T
    save_checkpoint(ours, tmp_path / "a")
    load_checkpoint(other, tmp_path / "a")
    same(other.model.weight, ours.model.weight)


@BAD
@pytest.mark.parametrize("keep", [0, 5, 100, 5_000, -1])
def test_a_truncated_checkpoint_is_refused(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    size, ours = saved.stat().st_size, trainer()
    before = weights(ours)
    got = f"{size} bytes that are none"
    with refused(ValueError, "checkpoint", "a complete file", got):
        load_checkpoint(ours, saved)
    with pytest.raises(ValueError, match=str(saved)):
        train(ours, data(), 9, saved)
    same_weights(weights(ours), before)
    assert ours.losses == [] and saved.stat().st_size == size


@BAD
def test_a_file_of_something_else_is_refused(saved):
    from safetensors.torch import save_file

    save_file({"model.x": torch.ones(3)}, saved)
    with refused(ValueError, "checkpoint", "save_checkpoint", "none"):
        load_checkpoint(trainer(), saved)
    with pytest.raises(FileNotFoundError):
        load_checkpoint(trainer(), saved.with_name("missing"))


@BAD
def test_a_checkpoint_of_another_training_is_refused(saved):
    torch.manual_seed(0)
    config = TransformerConfig(11, 11, 16, 2, 16, 1, 1)
    wide = Trainer(Transformer(config).to(DEVICE), Recipe(rate))
    with refused(ValueError, "checkpoint", "for decoder", "shape (8,)"):
        load_checkpoint(wide, saved)
    with refused(ValueError, "checkpoint", "smoothing=0.2", "0.1"):
        load_checkpoint(trainer(smoothing=0.2), saved)
    double = trainer()
    double.model.double(), double.average.double()
    with refused(ValueError, "checkpoint", "torch.float64", "torch.float32"):
        load_checkpoint(double, saved)
    other = Trainer(trainer().model, Recipe(lambda step: 0.1))
    with refused(ValueError, "checkpoint", "rate=0.1", "0.0"):
        load_checkpoint(other, saved)
    deep = TransformerConfig(11, 11, **SIZES, encoder_layers=2)
    deep = Trainer(Transformer(deep).to(DEVICE), Recipe(rate))
    with refused(ValueError, "checkpoint", "shape", "nothing"):
        load_checkpoint(deep, saved)


@BAD
def test_a_checkpoint_with_fewer_steps_takes_nothing_away(saved):
    ours = trainer()
    train(ours, data(), 5)
    with refused(ValueError, "checkpoint", "at least the 5 steps", "3"):
        train(ours, data(), 9, saved)
    load_checkpoint(ours, saved)
    assert len(train(ours, data(), 9, saved)) == 9


def test_a_full_disk_leaves_the_last_checkpoint(saved):
    """A limit on file size makes the system refuse in the middle."""
    content, ours = saved.read_bytes(), trainer()
    train(ours, data(), 7)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) // 2, hard))
    try:
        with pytest.raises(OSError, match="before is intact") as caught:
            save_checkpoint(ours, saved)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.filename == str(saved)
    assert saved.read_bytes() == content
    assert os.listdir(saved.parent) == [saved.name]


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(OSError, match="checkpoint: expected to write"):
        save_checkpoint(trainer(), tmp_path / "missing" / "a")


# --- bad input


@BAD
@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"logits": [1.0]}, TypeError, ("logits", "a tensor", "list")),
        (
            {"logits": torch.ones(3, 11).long()},
            TypeError,
            ("logits", "floating", "int64"),
        ),
        (
            {"target": torch.ones(3)},
            TypeError,
            ("target", "integer tensor", "float32"),
        ),
        (
            {"target": torch.full((3,), 11)},
            ValueError,
            ("target", "ids from 0 to 10", "11"),
        ),
        (
            {"target": torch.full((3,), -100)},
            ValueError,
            ("target", "ids from 0 to 10", "-100"),
        ),
        (
            {"target": torch.ones(3, 1).long()},
            ValueError,
            ("target", "shape (3,)", "shape (3, 1)"),
        ),
        (
            {"target": torch.full((3,), -1), "pad_id": -100},
            ValueError,
            ("target", "ids from 0 to 10", "-1"),
        ),
        ({"pad_id": 0.0}, TypeError, ("pad_id", "an integer", "float")),
        ({"pad_id": None}, TypeError, ("pad_id", "an integer", "NoneType")),
        ({"smoothing": 1.0}, ValueError, ("smoothing", "< 1", "1.0")),
        ({"smoothing": -0.1}, ValueError, ("smoothing", "0 <=", "-0.1")),
        ({"smoothing": "a"}, TypeError, ("smoothing", "a number", "str")),
    ],
)
def test_loss_refuses(change, error, parts):
    good = {"logits": torch.ones(3, 11), "target": torch.ones(3).long()}
    with refused(error, *parts):
        label_smoothed_loss(**(good | change))


@BAD
@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"step": 0}, ValueError, ("step", "1 to 9", "0")),
        ({"step": 10}, ValueError, ("step", "1 to 9", "10")),
        ({"step": 1.0}, TypeError, ("step", "an integer", "float")),
        ({"warmup": -1}, ValueError, ("warmup", "0 to 8", "-1")),
        ({"warmup": 9}, ValueError, ("warmup", "0 to 8", "9")),
        ({"steps": 0}, ValueError, ("steps", "at least 1", "0")),
        ({"peak": -1.0}, ValueError, ("peak", "at least 0", "-1.0")),
        ({"peak": math.inf}, ValueError, ("peak", "finite", "inf")),
        ({"peak": "a"}, TypeError, ("peak", "a number", "str")),
    ],
)
def test_cosine_rate_refuses(change, error, parts):
    good = {"step": 1, "peak": 1.0, "warmup": 2, "steps": 9}
    with refused(error, *parts):
        cosine_rate(**(good | change))


@BAD
@pytest.mark.parametrize("name", ["step", "d_model", "warmup"])
def test_warmup_rate_refuses(name):
    good = {"step": 1, "d_model": 64, "warmup": 200}
    with refused(ValueError, name, "at least 1", "0"):
        warmup_rate(**(good | {name: 0}))
    with refused(TypeError, name, "an integer", "float"):
        warmup_rate(**(good | {name: 1.0}))


@BAD
@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"rate": 0.1}, TypeError, ("rate", "a function", "float")),
        ({"smoothing": 1}, ValueError, ("smoothing", "< 1", "1")),
        ({"averaging": 1}, ValueError, ("averaging", "< 1", "1")),
        ({"clip": -1}, ValueError, ("clip", "at least 0", "-1")),
        ({"clip": 0}, ValueError, ("clip", "more than 0", "0")),
        ({"clip": math.nan}, ValueError, ("clip", "a finite number", "nan")),
        ({"clip": None}, TypeError, ("clip", "a number", "NoneType")),
        ({"pad_id": 0.5}, TypeError, ("pad_id", "an integer", "float")),
    ],
)
def test_recipe_refuses(change, error, parts):
    with refused(error, *parts):
        Recipe(**({"rate": rate} | change))


@BAD
@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"trainer": None}, TypeError, ("trainer", "Trainer", "NoneType")),
        ({"batches": []}, ValueError, ("batches", "at least one", "none")),
        ({"batches": iter([])}, TypeError, ("batches", "list", "iterator")),
        ({"steps": 0}, ValueError, ("steps", "at least 1", "0")),
        ({"every": 0}, ValueError, ("every", "at least 1", "0")),
    ],
)
def test_train_refuses(change, error, parts):
    good = {"trainer": trainer(), "batches": data(), "steps": 1}
    with refused(error, *parts):
        train(**(good | change))


@BAD
@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf])
def test_a_rate_that_is_none_changes_no_weight(wrong):
    ours = trainer()
    ours.recipe = Recipe(lambda step: wrong if step == 2 else 0.1)
    train(ours, data(), 1)
    before = weights(ours)
    with refused(ValueError, "rate(2)", "a finite number", str(wrong)):
        train(ours, data(), 2)
    same_weights(weights(ours), before)
    assert len(ours.losses) == 1


def test_a_clip_of_infinity_clips_nothing():
    free, wide = trainer(clip=math.inf), trainer(clip=1e9)
    train(free, data(), 3), train(wide, data(), 3)
    same_weights(weights(free), weights(wide))


def test_the_average_drops_nothing():
    ours = trainer(dropout=0.5)
    train(ours, data(), 2)
    assert ours.model.training and not ours.average.training


def test_a_forbidden_token_costs_nothing_without_smoothing():
    logits = torch.tensor([[1.0, 2.0, -math.inf]]).to(DEVICE)
    target = torch.tensor([1]).to(DEVICE)
    expected = nn.functional.cross_entropy(logits, target)
    torch.testing.assert_close(
        label_smoothed_loss(logits, target, 0.0), expected
    )


@BAD
def test_trainer_and_exact_match_refuse():
    with refused(TypeError, "model", "a Module", "NoneType"):
        Trainer(None, Recipe(rate))
    with refused(TypeError, "recipe", "a Recipe", "dict"):
        Trainer(trainer().model, {})
    with refused(ValueError, "batches", "at least one", "none"):
        exact_match(trainer().model, [])


@BAD
def test_a_checkpoint_without_the_moments_of_adam_is_refused(tmp_path):
    ours = trainer()
    train(ours, data(), 3)
    ours.optimiser.state.clear()
    save_checkpoint(ours, tmp_path / "a")
    with refused(ValueError, "checkpoint", "the moments of Adam", "none"):
        load_checkpoint(trainer(), tmp_path / "a")
    train(ours, data(), 4)
    ours.optimiser.state_dict()["state"][0]["exp_avg"].resize_(2)
    save_checkpoint(ours, tmp_path / "a")
    with refused(ValueError, "checkpoint", "moments of", "for adam.0.exp_avg"):
        load_checkpoint(trainer(), tmp_path / "a")
