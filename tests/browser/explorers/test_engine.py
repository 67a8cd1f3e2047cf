"""The engine of the page computes what the library and torch compute.

Loss, every gradient and ten steps of Adam, with each part taken away; what
the date model says is asked in test_dates.py.
"""

import json
import math
from dataclasses import asdict

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from kit.lab import ANY, PARTS, NumberModel
from lib.transformer import Transformer, TransformerConfig
from tests.browser.explorers.shown import close
from tests.built import first_quick

RATE, STEPS = 0.01, 10
# Loss and gradients of the first batch; then ten steps, with their losses.
RUN = """(text) => {
  const { kind, config, change, weights, batches } = JSON.parse(text);
  const { Adam } = globalThis.Trainer;
  const model = new Engine[kind](config, Object.fromEntries(
    Object.entries(weights).map(([name, [shape, data]]) =>
      [name, { shape, data: Float64Array.from(data) }])), change);
  const all = (what) => Object.fromEntries(Object.entries(model.weights).map(
    ([name, weight]) => [name, Array.from(weight[what])]));
  model.backward(batches[0]);
  const grads = all("grad"), adam = new Adam(model.weights);
  const losses = batches.map((batch) => {
    const loss = model.backward(batch);
    adam.step(RATE);
    return loss;
  });
  return JSON.stringify({ grads, losses, after: all("data") });
}""".replace("RATE", str(RATE))
READER = {"vocab_size": 11, "layers": 2, "heads": 4}
PAIR = {
    "source_vocab_size": 9,
    "target_vocab_size": 7,
    "d_model": 12,
    "heads": 3,
    "d_ff": 10,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "dropout": 0.0,
    "max_length": 16,
}


def spread(model):
    """In float64, with no gain at 1 and no bias at 0."""
    torch.manual_seed(2)
    for name, weight in model.named_parameters():
        if "norm" in name or name.endswith("bias"):
            nn.init.normal_(weight, mean=0.5, std=0.4)
    return model.double()


def run(page, kind, config, change, model, batches):
    """Compare the page's run with that of torch."""
    weights = {
        name: [list(weight.shape), weight.flatten().tolist()]
        for name, weight in model.state_dict().items()
    }
    sent = [
        {name: ids.flatten().tolist() for name, ids in batch.items()}
        | {"batch": len(batch["source"])}
        for batch in batches
    ]
    for batch in sent:
        batch["answers"] = [-1 if a == ANY else a for a in batch["answers"]]
    given = {
        "kind": kind,
        "config": config,
        "change": change,
        "weights": weights,
        "batches": sent,
    }
    found = json.loads(page.evaluate(RUN, json.dumps(given)))

    def loss_of(batch):
        inputs = [ids for name, ids in batch.items() if name != "answers"]
        logits = model(*inputs).flatten(0, 1)
        return F.cross_entropy(logits, batch["answers"].flatten())

    loss_of(batches[0]).backward()
    for name, weight in model.named_parameters():
        grad = torch.zeros(1) if weight.grad is None else weight.grad
        true = grad.expand(weight.shape).flatten()
        close(found["grads"][name], true, 1e-9)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    losses = []
    for batch in batches:
        optimiser.zero_grad()
        loss = loss_of(batch)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    close(found["losses"], losses, 1e-8)
    for name, weight in model.named_parameters():
        # Where a gradient is 0, that of the page may be 1e-17, and Adam asks
        # for its sign.
        close(found["after"][name], weight.detach().flatten(), 1e-3)


def rows(vocab, count, length, seed):
    drawn = torch.Generator().manual_seed(seed)
    return torch.randint(vocab, (count, length), generator=drawn)


CHANGES = [(), *[(part,) for part in PARTS], ("0.1", "1.0", "1.3")]
CHANGES += [("residual", "norm", "feed_forward"), ("choice", "1.2")]


@pytest.mark.parametrize("norm_first", first_quick([True, False]))
@pytest.mark.parametrize("parts", CHANGES, ids=" ".join)
def test_an_encoder_learns_as_in_torch(page, parts, norm_first):
    """With a causal mask, an odd batch, and places that do not count."""
    torch.manual_seed(1)
    model = spread(NumberModel(**READER, norm_first=norm_first, causal=True))
    config = READER | {"d_model": 32, "d_ff": 64, "causal": True}
    config["norm_first"] = norm_first
    batches = []
    for seed in range(STEPS):
        source = rows(11, 3, 5, seed)
        answers = rows(11, 3, 5, seed + 50)
        answers[:, 0] = ANY
        batches.append({"source": source, "answers": answers})
    change = {part: False for part in parts if part in PARTS}
    change["silent"] = [
        f"encoder.blocks.{part.replace('.', '.attention.')}"
        for part in parts
        if part not in PARTS
    ]
    with model.without(*parts):
        run(page, "NumberModel", config, change, model, batches)


@pytest.mark.parametrize("tied", first_quick(["none", "target", "all"]))
@pytest.mark.parametrize("norm_first", [False, True], ids=["after", "before"])
def test_an_encoder_and_decoder_learn_as_in_the_library(
    page, norm_first, tied
):
    """With PAD at both ends, and rows of PAD alone."""
    config = PAIR | {"norm_first": norm_first, "tied": tied}
    if tied == "all":
        config["source_vocab_size"] = config["target_vocab_size"]
    torch.manual_seed(1)
    config = asdict(TransformerConfig(**config))
    model = spread(Transformer(TransformerConfig(**config)))
    batches = []
    for seed in range(STEPS):
        source = rows(config["source_vocab_size"] - 3, 3, 6, seed) + 3
        target = rows(4, 3, 5, seed + 50) + 3
        answers = target.roll(-1, 1)
        source[0, 4:] = target[1, 3:] = 0
        source[2] = 0
        answers[target == 0] = ANY
        batch = {"source": source, "target": target, "answers": answers}
        batches.append(batch)
    run(page, "Transformer", config, {}, model, batches)


def test_what_the_page_cannot_compute_is_refused(page):
    def told(code):
        return page.evaluate(
            "(code) => { try { eval(code); } catch (e) { return e.message } }",
            code,
        )

    make = "new Engine.NumberModel({ vocab_size: 5, d_model: 8, heads: 2, "
    make += "d_ff: 4, layers: 1, %s }, %s)"
    assert told(make % ("activation: 'gelu'", "{}")) == (
        "the page knows relu only, and no dropout"
    )
    assert "no dropout" in told(make % ("dropout: 0.1", "{}"))
    assert (
        told(make % ("", "{}, { value: false }")) == "there is no part value"
    )
    table = "{ 'embedding.table.weight': { shape: [5, 9] } }"
    assert told(make % ("", table)) == (
        "embedding.table.weight: expected 5 × 8, got 5 × 9."
    )


def test_random_numbers_follow_their_laws(page):
    """New weights are drawn as by torch, and the same for a seed."""
    found = page.evaluate("""() => ["a", "b"].map(() => {
      const { model } = new Trainer.Run({ seed: 3 });
      return Object.fromEntries(Object.entries(model.weights).map(
        ([name, { data }]) => [name, Array.from(data)]));
    })""")
    assert found[0] == found[1]
    weights = {k: torch.tensor(v) for k, v in found[0].items()}
    table = weights["embedding.table.weight"]
    assert abs(table.std() - 1 / math.sqrt(32)) < 0.02
    wide = weights["encoder.blocks.0.feed_forward.narrow.weight"]
    assert 0.98 / 8 < wide.abs().max() <= 1 / 8
    assert abs(wide.mean()) < 0.01
    assert weights["encoder.blocks.0.around_attention.norm.weight"].eq(1).all()
    assert weights["encoder.blocks.0.around_attention.norm.bias"].eq(0).all()
