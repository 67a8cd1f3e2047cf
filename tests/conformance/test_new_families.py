"""Three families of 2025: read as `transformers` reads them, or refused.

As in `test_families`, each good file gets each field of the three classes and
of some of their relatives. What our loader does not refuse it must compute as
`transformers` does from the very same file.
"""

import json
from functools import cache

import pytest
import torch
from safetensors.torch import load_file, save_file

from lib.families import FamilyModel, load_family, read_family
from lib.validate.families import AGREE, NEUTRAL, SILENT, USED
from tests.conformance import tiny_families as tiny

transformers = pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)
from tests.conformance.test_families import NEAR, PARTS, mutations  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
FAMILIES = pytest.mark.parametrize("family", tiny.FAMILIES)


RELATIVES = "deepseek_v3", "gpt_oss", "olmo3", "qwen2_moe", "qwen3_next"


@cache
def fields_and_weights(family, changes):
    return tiny.saved(tiny.build(family, **json.loads(changes)))


def good(family, **changes):
    """A file that both read."""
    return fields_and_weights(family, json.dumps(changes))


def read(fields, weights):
    """None and our model; or the name that our loader refuses."""
    try:
        model = FamilyModel(read_family(fields)).requires_grad_(False)
        load_family(model, weights)
        return None, model
    except (ValueError, TypeError) as error:
        name = str(error).partition(": expected ")[0]
        return name.partition(" of rope_")[0], None


def theirs(folder, fields, weights):
    """The package's model of a file, and whether it used all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(fields), encoding="utf-8")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    auto = transformers.AutoModelForCausalLM
    model, said = auto.from_pretrained(
        folder, output_loading_info=True, dtype=torch.float32,
        attn_implementation="eager", experts_implementation="eager",
    )  # fmt: skip
    whole = not any(said[kind] for kind in said if kind.endswith("_keys"))
    return model.eval().requires_grad_(False), whole


@FAMILIES
def test_the_record_of_the_page_is_what_the_package_says(family):
    fields = json.loads((tiny.FOLDER / "families.json").read_text("utf-8"))
    kept = load_file(tiny.FOLDER / "families.safetensors")
    said, tensors = tiny.recorded()
    assert fields == said and kept.keys() == tensors.keys()
    for name, tensor in tensors.items():
        torch.testing.assert_close(kept[name], tensor, **NEAR)


@FAMILIES
def test_a_good_file_with_each_field_of_its_relatives(family, tmp_path):
    """Whatever is accepted gives the logits of the package."""
    fields, weights = good(family)
    used = USED[family] | AGREE[family]
    accepted = set()
    for name, values in mutations((*tiny.FAMILIES, *RELATIVES)).items():
        for number, value in enumerate(values):
            changed = fields | {name: value}
            refused, ours = read(changed, weights)
            if refused:
                known = refused == name or name in used
                assert known or refused in used, (name, value, refused)
                continue
            accepted.add(name)
            try:
                model, whole = theirs(tmp_path / str(number), changed, weights)
                expected = model(tiny.ids()).logits
            except Exception:  # noqa: BLE001  it takes no such value
                assert name in SILENT[family], (name, value)
                continue
            assert whole, (name, value)
            ours = ours(tiny.ids())
            torch.testing.assert_close(ours, expected, **NEAR)
    assert len(accepted) > 20, accepted
    assert accepted <= used | SILENT[family] | NEUTRAL.keys()


CHANGES = {
    "qwen3": [
        {"tie_word_embeddings": True},
        {"num_key_value_heads": 4, "hidden_size": 16, "head_dim": 4},
        {"use_sliding_window": False, "sliding_window": 2},
    ],
    "qwen3_moe": [
        {"norm_topk_prob": False},
        {"num_hidden_layers": 3, "decoder_sparse_step": 2},
        {"num_hidden_layers": 3, "mlp_only_layers": [1]},
        {"num_experts_per_tok": 5, "num_key_value_heads": 1},
    ],
    "dots1": [
        {"norm_topk_prob": False, "routed_scaling_factor": 1.0},
        {"first_k_dense_replace": 0, "n_shared_experts": 1},
        {"sliding_window": None, "num_experts_per_tok": 1},
    ],
}


@pytest.mark.parametrize(
    ("family", "change"),
    [(f, change) for f, several in CHANGES.items() for change in several],
)
def test_what_is_accepted_is_computed_alike(family, change, tmp_path):
    """In one pass, and in parts with a cache."""
    fields, weights = good(family, **change)
    name, ours = read(fields, weights)
    assert name is None
    model, whole = theirs(tmp_path, fields, weights)
    assert whole
    for size in PARTS:
        kept, past = ours.empty_cache(), None
        for part in tiny.ids().split(size, dim=1):
            out = model(part, past_key_values=past, use_cache=True)
            past = out.past_key_values
            torch.testing.assert_close(ours(part, kept), out.logits, **NEAR)


@FAMILIES
@pytest.mark.parametrize("lacking", [None, *sorted(USED["qwen3_moe"])])
def test_a_file_that_says_less(family, lacking, tmp_path):
    """Where a field lacks it is refused, or is what the package takes."""
    fields, weights = good(family, head_dim=4, hidden_size=16)
    less = {k: v for k, v in fields.items() if k != lacking}
    name, ours = read(less, weights)
    if name is None:
        model, whole = theirs(tmp_path, less, weights)
        assert whole
        said, expected = ours(tiny.ids()), model(tiny.ids()).logits
        torch.testing.assert_close(said, expected, **NEAR)
