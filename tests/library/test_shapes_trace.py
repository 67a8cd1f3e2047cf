"""kit.shapes: what is recorded is the pass itself, and nothing stays.

Chapter 10 prints every shape.
"""

from dataclasses import replace

import pytest
import torch

from kit.shapes import Step, table, trace, words
from lib.heads import MultiHeadAttention
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import DEVICE, refused, same

CONFIG = TransformerConfig(17, 19, 30, 6, 60, 2, 3)
SOURCE = torch.tensor([[5, 3, 2], [7, 2, 0]], device=DEVICE)
TARGET = torch.tensor([[1, 6, 18, 9], [1, 8, 0, 0]], device=DEVICE)
BOTH = (SOURCE, TARGET)


def model(**options):
    torch.manual_seed(0)
    return Transformer(replace(CONFIG, **options)).to(DEVICE)


def inside(made):
    """Hooks, methods and modes: what a trace could leave changed."""
    return [
        (name, [*module._forward_hooks], [*module._forward_pre_hooks])
        + ("project" in vars(module), module.training)
        for name, module in made.named_modules()
    ]


@pytest.mark.parametrize(
    "options", [{"tied": "target"}, {"tied": "all"}, {"norm_first": True}]
)
def test_other_models_have_the_same_shapes(options):
    plain = trace(model(source_vocab_size=19), *BOTH)
    joined = "added" if "norm_first" in options else "added, normed"
    assert trace(model(source_vocab_size=19, **options), *BOTH) == [
        replace(step, tensor=step.tensor.replace("added, normed", joined))
        for step in plain
    ]
    assert Step("cross-attention", "weights", (2, 6, 4, 3)) in plain


def test_the_pass_itself_is_recorded():
    """A model that does not do what its configuration says."""
    made = model()
    attention = made.encoder.blocks[0].attention
    project = MultiHeadAttention.project

    def narrower(*inputs):
        q, k, v = project(attention, *inputs)
        return [q[..., :2], k[..., :2], v]

    attention.project = narrower
    shapes = {s.tensor: s.shape for s in trace(made, *BOTH)[3:11]}
    assert shapes["Q, split"] == (2, 6, 3, 2)
    assert shapes["V, split"] == (2, 6, 3, 5)


@pytest.mark.parametrize("training", [False, True])
def test_nothing_stays_behind(training):
    made = model().eval()
    wanted = made(*BOTH)
    made.train(training).encoder.eval()  # every module keeps its own mode
    before, state = inside(made), torch.get_rng_state()
    for refused_ids in [(SOURCE + 17, TARGET), (SOURCE, TARGET + 19)]:
        with pytest.raises(ValueError, match="expected ids from 0"):
            trace(made, *refused_ids)
        assert inside(made) == before
    trace(made, *BOTH)
    assert inside(made) == before
    assert torch.equal(torch.get_rng_state(), state)  # no dropout was drawn
    same(made.eval()(*BOTH), wanted)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "options, inputs, got",
    [
        ({}, (SOURCE, TARGET[:, :3]), "3 for both s_len and t_len"),
        ({}, (SOURCE[:1], TARGET[:1]), "1 for both 1 and batch"),
        ({"d_ff": 30}, BOTH, "30 for both d_model and d_ff"),
        ({"target_vocab_size": 60}, BOTH, "60 for both d_ff and vocab"),
        ({"heads": 15}, BOTH, "2 for both batch and d_head"),
    ],
)
def test_a_size_that_names_two_axes_is_refused(options, inputs, got):
    with refused(ValueError, "sizes", "different", got):
        words(model(**options), *inputs)


def test_the_table_of_the_base_model_fits_the_page():
    made = model(d_model=512, heads=8, d_ff=2048, target_vocab_size=37_000)
    both = [torch.full((12, n), 3, device=DEVICE) for n in (21, 23)]
    text = table(trace(made, *both), words(made, *both))
    assert max(map(len, text.split("\n"))) <= 79
