"""lib.training: loss, rate, steps, and runs that are stopped in every way."""

import math
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
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
from tests.library.draw import DEVICE, close, normal, refused, same

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


def trainer(dropout=0.0, change=lambda model: None, **recipe):
    """Of a small model, which may be changed before."""
    torch.manual_seed(0)
    options = SIZES | LAYERS | {"dropout": dropout}
    model = Transformer(TransformerConfig(11, 11, **options)).to(DEVICE)
    change(model)
    return Trainer(model, Recipe(**{"rate": rate} | recipe))


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


@pytest.mark.parametrize("options", [
    {}, {"smoothing": 0.0, "pad_id": 5}, {"smoothing": 0.5, "pad_id": -100},
    {"pad_id": 99},
])  # fmt: skip
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 5)])
def test_loss_is_torchs(shape, options):
    """What is ignored need not be in the vocabulary."""
    logits = normal(*shape, 11, dtype=torch.float64, scale=5.0)
    logits.requires_grad_()
    target = (normal(*shape).abs() * 50).long() % 11
    target.view(-1)[::3] = options.get("pad_id", 0)
    expected = F.cross_entropy(
        logits.view(-1, 11),
        target.view(-1),
        label_smoothing=options.get("smoothing", 0.1),
        ignore_index=options.get("pad_id", 0),
    )
    actual = label_smoothed_loss(logits, target, **options)
    torch.testing.assert_close(actual, expected)
    gradients = (torch.autograd.grad(x, logits)[0] for x in (actual, expected))
    torch.testing.assert_close(*gradients)


def test_loss_at_its_edges():
    """It is NaN without targets; a forbidden token costs nothing."""
    logits, target = normal(3, 11), torch.tensor([5, 7, 5]).to(DEVICE)
    assert label_smoothed_loss(logits, 0 * target).isnan()
    logits[:, 3] = -math.inf
    expected = F.cross_entropy(logits, target)
    close(label_smoothed_loss(logits, target, 0.0), expected)


def test_warmup_rate():
    for step, d_model, warmup in ((1, 64, 200), (200, 64, 200), (9, 16, 1)):
        rise, fall = step / warmup**1.5, 1 / math.sqrt(step)
        expected = min(rise, fall) / math.sqrt(d_model)
        assert warmup_rate(step, d_model, warmup) == pytest.approx(expected)


@pytest.mark.parametrize(("warmup", "steps"), [(10, 90), (0, 3)])
def test_cosine_rate(warmup, steps):
    """A line up, half a cosine down: torch's scheduler."""
    rates = [cosine_rate(k, 0.006, warmup, steps) for k in range(1, steps + 1)]
    line = [0.006 * k / warmup for k in range(1, warmup + 1)]
    assert rates[:warmup] == pytest.approx(line)
    optimiser = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.006)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimiser, steps - warmup
    )
    for here in rates[warmup:]:
        optimiser.step()
        falling.step()
        (expected,) = falling.get_last_lr()
        assert here == pytest.approx(expected, abs=1e-12)


# --- one step


def test_what_a_recipe_is_if_nobody_says_otherwise():
    assert Recipe(rate).numbers(0) == {
        "rate": rate(1),
        "smoothing": 0.1,
        "clip": 1.0,
        "averaging": 0.98,
        "pad_id": 0,
    }


@pytest.mark.parametrize("options", [
    {"averaging": 0.0, "clip": math.inf, "pad_id": 5},
    {"averaging": 0.75, "clip": 0.01, "smoothing": 0.5},
    {},
])  # fmt: skip
def test_a_step_is_torchs_adam(options):
    """Beside a loop in torch; token 5 is the PAD of one recipe.

    In float64: the gradient of a key's bias is 0, and Adam makes full steps
    of its rounding errors.
    """
    ours = trainer(change=lambda model: model.double(), **options)
    other = trainer(change=lambda model: model.double()).model
    said = Recipe(rate, **options)
    expected = [weight.detach().clone() for weight in other.parameters()]
    adam = torch.optim.Adam(other.parameters(), 1, (0.9, 0.98), 1e-9)
    for number, batch in enumerate(data(), 1):
        source, decoder_input, target = batch.to(DEVICE)
        loss = F.cross_entropy(
            other(source, decoder_input).mT,
            target,
            ignore_index=said.pad_id,
            label_smoothing=said.smoothing,
        )
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(other.parameters(), said.clip)
        adam.param_groups[0]["lr"] = rate(number)
        adam.step()
        assert ours.step(batch) == pytest.approx(loss.item(), rel=1e-9)
        for mean, weight in zip(expected, other.parameters(), strict=True):
            mean *= said.averaging
            mean += (1 - said.averaging) * weight.detach()
    for mine, wanted in (
        (ours.model.parameters(), other.parameters()),
        (ours.average.parameters(), expected),
    ):
        for one, two in zip(mine, wanted, strict=True):
            torch.testing.assert_close(one.data, two.data, atol=1e-6, rtol=0)
    assert not any(p.requires_grad for p in ours.average.parameters())


@pytest.mark.skipif(DEVICE.type != "cpu", reason="half precision on a GPU")
def test_on_a_cpu_nothing_is_computed_in_half_precision():
    ours, seen = trainer(), set()
    for module in ours.model.modules():
        module.register_forward_hook(
            lambda module, inputs, output: seen.add(output.dtype)
        )
    ours.step(data()[0])
    assert seen == {torch.float32}


def test_training_turns_dropout_on():
    once, ours = trainer(0.5), trainer(0.5)
    ours.model.eval()
    for one in (once, ours):
        torch.manual_seed(0)
        train(one, data(), 2)
    assert once.losses == ours.losses and ours.model.training
    assert not ours.average.training


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


@pytest.mark.parametrize(
    "steps, every, saved",
    [(250, {}, [100, 200, 250]), (8, {"every": 4}, [4, 8])],
)
def test_a_checkpoint_is_written_now_and_then_and_at_the_end(
    steps, every, saved, tmp_path, monkeypatch
):
    ours, found = trainer(), []
    monkeypatch.setattr(
        training, "save_checkpoint", lambda t, _: found.append(len(t.losses))
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
    for step in (11, 38):
        process = start(killed, 60, 3)
        wait_for(process, step)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    process = start(killed, 60, 3)
    first = int(process.stdout.readline())
    assert 36 <= first < 60, process.stderr.read()
    process.communicate()
    assert process.returncode == 0
    assert killed.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("file", [None, "a"])
def test_ctrl_c_leaves_what_goes_on(monkeypatch, tmp_path, file):
    """A trainer, or a file for another one."""
    once, ours, step = trainer(), trainer(), Trainer.step
    path = file and tmp_path / file
    train(once, data(), 9)

    def interrupted(self, *batch):
        if len(self.losses) == 4:
            signal.raise_signal(signal.SIGINT)
        return step(self, *batch)

    monkeypatch.setattr(Trainer, "step", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="after step 5"):
        train(ours, data(), 9, path)
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(ours.losses) == 5
    monkeypatch.undo()
    ours = trainer() if file else ours
    train(ours, data(), 9, path)
    assert ours.losses == once.losses
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
    ours, good = trainer(), data(3)
    train(ours, good, 4)
    weight = ours.model.encoder.blocks[0].feed_forward.widen.weight.data
    kept = weight[0, 0].item()
    weight[0, 0] = math.nan
    changed = weights(ours)
    wanted = "got nan at step 5, batch 1 of 3; the weights are those before"
    with pytest.raises(FloatingPointError, match=f"^loss: .* {wanted}"):
        train(ours, good, 9)
    with pytest.raises(FloatingPointError, match="at step 5, the batch;"):
        ours.step(good[0])
    assert len(ours.losses) == 4
    same_weights(weights(ours), changed)
    weight[0, 0] = kept
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


@pytest.mark.parametrize("tty", [True, False])
@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("disable", ["", "0", "1"])
def test_the_bar_shows_to_people_only(
    monkeypatch, capsys, tty, kernel, disable
):
    monkeypatch.setenv("TQDM_DISABLE", disable)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    if kernel:
        monkeypatch.setitem(sys.modules, "ipykernel", pytest)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: tty, raising=False)
    ours = trainer()
    train(ours, data(), 3)
    train(ours, data(), 5)
    told = capsys.readouterr()
    seen = (tty or kernel) and disable != "1"
    assert told.out == "" and bool(told.err) == seen
    assert ("5/5" in told.err and "loss=" in told.err) == seen


# --- checkpoints


@pytest.fixture
def saved(tmp_path):
    ours = trainer()
    train(ours, data(), 3)
    save_checkpoint(ours, tmp_path / "a")
    return tmp_path / "a"


@pytest.mark.parametrize("tied", ["none", "target", "all"])
def test_modules_that_share_their_weights_are_saved(tmp_path, tied):
    """One block, and one weight, in two places."""
    options = SIZES | {"encoder_layers": 2, "decoder_layers": 2}
    config = TransformerConfig(11, 11, **options, dropout=0.0, tied=tied)

    def made():
        torch.manual_seed(0)
        model = Transformer(config).to(DEVICE)
        model.decoder.blocks[1] = model.decoder.blocks[0]
        one, two = (block.feed_forward for block in model.encoder.blocks)
        two.widen.weight = one.widen.weight
        return Trainer(model, Recipe(rate))

    once, stopped, other = (made() for _ in range(3))
    train(once, data(), 6)
    train(stopped, data(), 3, tmp_path / "a")
    train(other, data(), 6, tmp_path / "a")
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
@pytest.mark.parametrize("keep", [0, 100, -1, None])
def test_a_file_that_is_no_checkpoint_is_refused(saved, keep):
    """It ends too early, or is of something else."""
    if keep is None:
        save_file({"model.x": torch.ones(3)}, saved)
    saved.write_bytes(content := saved.read_bytes()[:keep])
    ours = trainer()
    before, got = weights(ours), f"{len(content)} bytes that are none"
    with refused(ValueError, "checkpoint", "file from save_checkpoint", got):
        load_checkpoint(ours, saved)
    with pytest.raises(ValueError, match=str(saved)):
        train(ours, data(), 9, saved)
    same_weights(weights(ours), before)
    assert ours.losses == [] and saved.read_bytes() == content
    with pytest.raises(FileNotFoundError):
        load_checkpoint(ours, saved.with_name("missing"))


@BAD
def test_a_checkpoint_of_another_training_is_refused(saved):
    def double(model):
        model.double()

    def wider(model):
        bias = torch.ones(9, device=DEVICE)
        model.encoder.blocks[0].feed_forward.widen.bias = nn.Parameter(bias)

    def deeper(model):
        model.encoder.blocks.append(nn.Linear(2, 2))

    for wanted, got, options in (
        ("shape (9,)", "shape (16,)", {"change": wider}),
        ("torch.float64", "torch.float32", {"change": double}),
        ("shape", "nothing", {"change": deeper}),
        ("smoothing=0.2", "0.1", {"smoothing": 0.2}),
        ("rate=0.1", "0.0", {"rate": lambda step: 0.1}),
    ):
        with refused(ValueError, "checkpoint", wanted, got):
            load_checkpoint(trainer(**options), saved)


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


@BAD
def test_a_checkpoint_without_the_moments_of_adam_is_refused(saved):
    ours = trainer()
    ours.losses = [1.0] * 3
    save_checkpoint(ours, saved)
    with refused(ValueError, "checkpoint", "the moments of Adam", "none"):
        load_checkpoint(trainer(), saved)
    train(ours, data(), 4)
    ours.optimiser.state_dict()["state"][0]["exp_avg"].resize_(2)
    save_checkpoint(ours, saved)
    with refused(ValueError, "checkpoint", "moments of", "for adam.0.exp_avg"):
        load_checkpoint(trainer(), saved)


# --- bad input

IDS = torch.ones(3).long()
LOSS = label_smoothed_loss
GOOD = {
    LOSS: lambda: {"logits": torch.ones(3, 11), "target": IDS},
    cosine_rate: lambda: {"step": 1, "peak": 1.0, "warmup": 2, "steps": 9},
    warmup_rate: lambda: {"step": 1, "d_model": 64, "warmup": 200},
    Recipe: lambda: {"rate": rate},
    Trainer: lambda: {"model": nn.Linear(1, 1), "recipe": Recipe(rate)},
    train: lambda: {"trainer": trainer(), "batches": data(), "steps": 1},
    exact_match: lambda: {"model": trainer().model, "batches": data()},
}


@BAD
@pytest.mark.parametrize(
    ("call", "argument", "value", "error", "expected", "got"),
    [
        (LOSS, "logits", [1.0], TypeError, "a tensor", "list"),
        (LOSS, "target", 1.0 * IDS, TypeError, "integer", "float"),
        (LOSS, "target", 11 * IDS, ValueError, "0 to 10", "11"),
        (LOSS, "target", -IDS, ValueError, "0 to 10", "-1"),
        (LOSS, "target", IDS[:, None], ValueError, "(3,)", "(3, 1)"),
        (LOSS, "pad_id", 0.0, TypeError, "an integer", "float"),
        (LOSS, "smoothing", 1.0, ValueError, "< 1", "1.0"),
        (LOSS, "smoothing", -0.1, ValueError, "0 <=", "-0.1"),
        (cosine_rate, "step", 0, ValueError, "1 to 9", "0"),
        (cosine_rate, "step", 10, ValueError, "1 to 9", "10"),
        (cosine_rate, "warmup", -1, ValueError, "0 to 8", "-1"),
        (cosine_rate, "warmup", 9, ValueError, "0 to 8", "9"),
        (cosine_rate, "steps", 0, ValueError, "at least 1", "0"),
        (cosine_rate, "peak", -1.0, ValueError, "at least 0", "-1.0"),
        (warmup_rate, "step", 0, ValueError, "at least 1", "0"),
        (warmup_rate, "d_model", 0, ValueError, "at least 1", "0"),
        (warmup_rate, "warmup", 0, ValueError, "at least 1", "0"),
        (Recipe, "rate", 0.1, TypeError, "a function", "float"),
        (Recipe, "smoothing", 1, ValueError, "< 1", "1"),
        (Recipe, "averaging", 1, ValueError, "< 1", "1"),
        (Recipe, "clip", -1, ValueError, "at least 0", "-1"),
        (Recipe, "clip", 0, ValueError, "more than 0", "0"),
        (Recipe, "clip", math.nan, ValueError, "a finite number", "nan"),
        (Recipe, "clip", None, TypeError, "a number", "NoneType"),
        (Recipe, "pad_id", 0.5, TypeError, "an integer", "float"),
        (Trainer, "model", None, TypeError, "a Module", "NoneType"),
        (Trainer, "recipe", {}, TypeError, "a Recipe", "dict"),
        (train, "trainer", None, TypeError, "Trainer", "NoneType"),
        (train, "batches", iter([]), TypeError, "list", "iterator"),
        (train, "batches", [], ValueError, "at least one", "none"),
        (train, "steps", 0, ValueError, "at least 1", "0"),
        (train, "every", 0, ValueError, "at least 1", "0"),
        (exact_match, "batches", [], ValueError, "at least one", "none"),
    ],
)
def test_refuses(call, argument, value, error, expected, got):
    with refused(error, argument, expected, got):
        call(**GOOD[call]() | {argument: value})


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
