"""lib.training: loss, rate, steps, and runs that are stopped in every way."""

import math
import os
import resource
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

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
from tests.library import no
from tests.library.draw import DEVICE, close, normal, refused, same
from tests.library.refusals import by_shape, refuses

BAD = pytest.mark.bad_input


def rate(step):
    return warmup_rate(step, 8, 5)


def data(count=7, batch=4):
    """Copying: 5 tokens in, the same 5 out."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, 11, (count, batch, 5), generator=generator)
    ends = torch.ones(count, batch, 1, dtype=torch.int64)
    begun, ended = torch.cat([ends, ids], -1), torch.cat([ids, 2 * ends], -1)
    return [Batch(*row) for row in zip(ids, begun, ended, strict=True)]


def trainer(dropout=0.0, change=lambda model: None, **recipe):
    """Of a small model, which may be changed before."""
    torch.manual_seed(0)
    config = TransformerConfig(11, 11, 8, 2, 16, 1, 1, dropout)
    model = Transformer(config).to(DEVICE)
    change(model)
    return Trainer(model, Recipe(**{"rate": rate} | recipe))


def weights(trained):
    """Copies of all, the averaged ones too."""
    both = nn.ModuleList([trained.model, trained.average])
    return {name: x.clone() for name, x in both.state_dict().items()}


# --- loss and rate


def test_loss_at_its_edges():
    """It is NaN without targets; a forbidden token costs nothing.

    What is ignored need not be in the vocabulary.
    """
    logits, target = normal(3, 11), torch.tensor([5, 7, 5]).to(DEVICE)
    assert label_smoothed_loss(logits, 99 + 0 * target, pad_id=99).isnan()
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
    expected = [0.006 * k / warmup for k in range(1, warmup + 1)]
    optimiser = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.006)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimiser, steps - warmup
    )
    for _ in range(warmup, steps):
        optimiser.step()
        falling.step()
        expected += falling.get_last_lr()
    assert rates == pytest.approx(expected, abs=1e-12)


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
    mine = *ours.model.parameters(), *ours.average.parameters()
    wanted = *other.parameters(), *expected
    torch.testing.assert_close(mine, wanted, atol=1e-6, rtol=0)
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


@pytest.mark.parametrize("training", [True, False])
def test_exact_match_counts_whole_sequences(training):
    target = torch.tensor([[5, 2, 0], [6, 7, 2], [6, 7, 2], [2, 0, 0]])
    said = torch.tensor([[5, 2, 9], [6, 7, 2], [6, 5, 2], [9, 0, 0]])
    model = trainer().model.train(training)

    def forward(source, decoder_input):
        assert not torch.is_grad_enabled() and not model.training
        return F.one_hot(said, 11).to(DEVICE)

    model.forward = forward
    share = exact_match(model, [Batch(target, target, target)])
    assert type(share) is float and share == 0.5
    assert model.training == training


# --- stopping and going on


@pytest.mark.parametrize(
    ("steps", "every", "saved"),
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


@pytest.mark.parametrize("file", [None, "a"])
def test_ctrl_c_leaves_what_goes_on(tmp_path, file):
    """A trainer, or a file for one with other weights."""
    once, ours, path = trainer(0.1), trainer(0.1), file and tmp_path / file
    torch.manual_seed(0)
    train(once, data(), 9)
    step = ours.step

    def interrupted(*batch):
        if len(ours.losses) == 4:
            signal.raise_signal(signal.SIGINT)
        return step(*batch)

    ours.step = interrupted
    handler = signal.getsignal(signal.SIGINT)
    torch.manual_seed(0)
    with pytest.raises(KeyboardInterrupt, match="after step 5"):
        train(ours, data(), 9, path)
    assert signal.getsignal(signal.SIGINT) is handler
    assert len(ours.losses) == 5
    assert file is None or path.exists()
    ours.step = step
    if file:
        ours = trainer(0.1)
        nn.init.zeros_(ours.model.tables.output_matrix)
    train(ours, data(), 9, path)
    assert ours.losses == once.losses
    same(weights(once), weights(ours))


def test_a_second_ctrl_c_interrupts_at_once():
    ours = trainer()

    def stuck(*batch):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        time.sleep(60)

    ours.step = stuck
    with pytest.raises(KeyboardInterrupt):
        train(ours, data(), 9)


def test_training_works_outside_the_main_thread():
    with ThreadPoolExecutor() as pool:
        assert len(pool.submit(train, trainer(), data(), 5).result()) == 5


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
    same(weights(ours), changed)
    weight[0, 0] = kept
    assert len(train(ours, good, 9)) == 9


@pytest.mark.parametrize(
    ("tty", "kernel", "disable", "seen"),
    [
        (True, False, "", True),
        (False, True, "0", True),
        (False, False, "", False),
        (True, True, "1", False),
    ],
)
def test_the_bar_shows_to_people_only(
    monkeypatch, capsys, tty, kernel, disable, seen
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
    assert told.out == "" and bool(told.err) == seen
    assert ("5/5" in told.err and "loss=" in told.err) == seen


# --- checkpoints


@pytest.fixture
def saved(tmp_path):
    ours = trainer()
    train(ours, data(), 3)
    save_checkpoint(ours, tmp_path / "a")
    return tmp_path / "a"


def test_modules_that_share_their_weights_are_saved(tmp_path):
    """One block, and one weight, in two places."""

    def share(model):
        blocks = model.encoder.blocks
        blocks.append(blocks[0])
        block = model.decoder.blocks[0]
        matrix = block.self_attention.in_proj.weight
        block.cross_attention.in_proj.weight = matrix

    once, stopped, other = (trainer(change=share) for _ in range(3))
    train(once, data(), 6)
    train(stopped, data(), 3, tmp_path / "a")
    train(other, data(), 6, tmp_path / "a")
    assert other.losses == once.losses
    same(weights(other), weights(once))
    blocks = other.model.encoder.blocks
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
    same(weights(ours), before)
    assert ours.losses == [] and saved.read_bytes() == content
    with pytest.raises(FileNotFoundError):
        load_checkpoint(ours, saved.with_name("missing"))


def wider(model):
    bias = torch.ones(9, device=DEVICE)
    model.encoder.blocks[0].feed_forward.widen.bias = nn.Parameter(bias)


@BAD
@pytest.mark.parametrize(
    ("options", "wanted", "got"),
    [
        ({"change": wider}, "shape (9,)", "shape (16,)"),
        ({"change": nn.Module.double}, "torch.float64", "torch.float32"),
        ({"change": lambda m: m.add_module("x", nn.Linear(2, 2))},
         "shape", "nothing"),
        ({"smoothing": 0.2}, "smoothing=0.2", "0.1"),
        ({"rate": lambda step: 0.1}, "rate=0.1", "0.0"),
    ],
)  # fmt: skip
def test_a_checkpoint_of_another_training_is_refused(
    saved, options, wanted, got
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
loss = partial(label_smoothed_loss, logits=torch.ones(3, 11), target=IDS)
falling = partial(cosine_rate, step=1, peak=1.0, warmup=2, steps=9)
rising = partial(warmup_rate, step=1, d_model=64, warmup=200)
recipe, trained = partial(Recipe, rate), trainer()
make = partial(Trainer, model=nn.Linear(1, 1), recipe=recipe())
go = partial(train, trainer=trained, batches=data(), steps=1)
match = partial(exact_match, trained.model)
ZERO, NONE, NO_SHARE = {"0": 0}, {"none": []}, {"1": 1, "-0.1": -0.1}
test_bad_input_is_refused = refuses(
    ("logits", loss, TypeError, "a tensor", {"list": [1.0]}),
    ("target", loss, TypeError, "integer", {"float": 1.0 * IDS}),
    ("target", loss, ValueError, "0 to 10", {"11": 11 * IDS, "-1": -IDS}),
    ("target", loss, ValueError, "(3,)", by_shape(IDS[:, None])),
    *no.integer(loss, "pad_id"),
    ("smoothing", loss, ValueError, "< 1", NO_SHARE),
    ("step", falling, ValueError, "1 to 9", {"0": 0, "10": 10}),
    ("warmup", falling, ValueError, "0 to 8", {"-1": -1, "9": 9}),
    ("steps", falling, ValueError, "at least 1", ZERO),
    ("peak", falling, ValueError, "at least 0", {"-1.0": -1.0}),
    *no.size(rising, "step", "d_model", "warmup"),
    ("rate", Recipe, TypeError, "a function", {"float": 0.1}),
    ("smoothing", recipe, ValueError, "< 1", NO_SHARE),
    ("averaging", recipe, ValueError, "< 1", NO_SHARE),
    ("clip", recipe, ValueError, "at least 0", {"-1": -1}),
    ("clip", recipe, ValueError, "more than 0", ZERO),
    ("clip", recipe, ValueError, "a finite number", {"nan": math.nan}),
    ("clip", recipe, TypeError, "a number", {"NoneType": None}),
    *no.integer(recipe, "pad_id"),
    ("model", make, TypeError, "a Module", {"NoneType": None}),
    ("recipe", make, TypeError, "a Recipe", {"dict": {}}),
    ("trainer", go, TypeError, "Trainer", {"NoneType": None}),
    ("batches", go, TypeError, "list", {"iterator": iter([])}),
    ("batches", go, ValueError, "at least one", NONE),
    *no.size(go, "steps", "every"),
    ("batches", match, ValueError, "at least one", NONE),
)


@BAD
@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf])
def test_a_rate_that_is_none_changes_no_weight(wrong):
    ours = trainer()
    ours.recipe = Recipe(lambda step: wrong if step == 2 else 0.1)
    train(ours, data(), 1)
    before = weights(ours)
    with refused(ValueError, "rate(2)", "a finite number", str(wrong)):
        train(ours, data(), 2)
    same(weights(ours), before)
    assert len(ours.losses) == 1
