"""Files of LLaMA's family: read as `transformers` reads them, or refused.

A good file of a small random model is changed: it gets each field of each
decoder of the package. What our loader does not refuse, it must compute as
`transformers` does from the very same file. Nothing is downloaded.
"""

import dataclasses
import json
import re
from functools import cache

import pytest
import torch
from safetensors.torch import save_file

from lib.llama import DecoderOnly, load_llama, read_config
from lib.validate.llama_known import AGREE, NEUTRAL, SILENT, USED
from tests.conformance.tiny_llama import FIELDS, randomise, texts
from tests.library.llama_files import HONEST, SIZES, SLOWER

transformers = pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)
from huggingface_hub.errors import StrictDataclassError  # noqa: E402
from transformers.models.auto.configuration_auto import (  # noqa: E402
    CONFIG_MAPPING,
)
from transformers.models.auto.modeling_auto import (  # noqa: E402
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CLASSES,
)

pytestmark = pytest.mark.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
NEAR = {"rtol": 0, "atol": 1e-5}
PARTS = (12,), (4, 1, 1, 3, 1, 2)
OURS = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM"}


@cache
def defaults(family):
    """The fields of a configuration that nobody has set."""
    kind = CONFIG_MAPPING[family]
    try:
        return json.loads(kind().to_json_string(use_diff=False))
    except StrictDataclassError:  # one class refuses its own defaults
        known = {f.name: f.default for f in dataclasses.fields(kind)}
        none = dataclasses.MISSING
        plain = {k: v for k, v in known.items() if v is not none}
        return plain | {"model_type": family}


@cache
def good(family, **changes):
    """A file that both read: fields and weights."""
    more = {"sliding_window": 4} if family == "mistral" else {}
    config = CONFIG_MAPPING[family](**FIELDS | more | changes)
    model = transformers.AutoModelForCausalLM.from_config(config)
    fields = json.loads(config.to_json_string(use_diff=True))
    fields["architectures"] = [OURS[family]]
    return fields, dict(randomise(model).state_dict())


def read(fields, weights):
    """None and our model; or what our loader names first, and no model.

    It names a field, one of the angles' fields, or a tensor, or what lacks.
    """
    try:
        config = read_config(fields)
        with torch.device("meta"):  # it may say that it is very large
            load_llama(DecoderOnly(config), weights)
        model = DecoderOnly(config).requires_grad_(False)
        load_llama(model, weights)
        return None, model
    except (ValueError, TypeError) as error:
        message = str(error)
    name = message.partition(": expected ")[0].partition(" of rope_")[0]
    angles = [fields.get(n) for n in ("rope_parameters", "rope_scaling")]
    known = {*fields, *weights, *USED, *SLOWER, "type"}
    known = known.union(*(part for part in angles if isinstance(part, dict)))
    tensor = re.fullmatch(r"(model\.|lm_head)[\w.]+", name)
    assert name in known or tensor, message
    return name, None


def theirs(folder, fields, weights):
    """The package's model of a file, and whether it used all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(fields), encoding="utf-8")
    kept = {name: weight.clone() for name, weight in weights.items()}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    auto = transformers.AutoModelForCausalLM
    model, said = auto.from_pretrained(
        folder, output_loading_info=True, dtype=torch.float32,
        attn_implementation="eager",
    )  # fmt: skip
    whole = not any(said[kind] for kind in said if kind.endswith("_keys"))
    return model.eval().requires_grad_(False), whole


def agree(folder, fields, weights):
    """Refused by a name that the file has or lacks, or computed alike."""
    name, ours = read(fields, weights)
    if name:
        return name
    model, whole = theirs(folder, fields, weights)
    assert whole
    ids = texts(vocab=fields["vocab_size"])
    for size in PARTS:
        cache, past = ours.empty_cache(), None
        for part in ids.split(size, dim=1):
            out = model(part, past_key_values=past, use_cache=True)
            past = out.past_key_values
            torch.testing.assert_close(ours(part, cache), out.logits, **NEAR)
    return None


def others(value):
    """Values of the same kind, and of another."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int | float):
        return [value * 2 + 1, value / 2, 0, 3, None]
    return [True, False, 3, 0.5, "gelu", ["full_attention", "conv"], {}]


def mutations(families=CLASSES):
    """Each field of each class, with its default and with other values."""
    found = {}
    for family in families:
        for name, value in defaults(family).items():
            for one in (value, *others(value)):
                found.setdefault(name, {})[json.dumps(one)] = one
    return {name: list(values.values()) for name, values in found.items()}


@pytest.mark.parametrize("family", OURS)
def test_a_good_file_with_each_field_of_each_class(family, tmp_path):
    """Whatever is accepted gives the logits of the package."""
    fields, weights = good(family)
    accepted, tried = set(), 0
    for name, values in mutations().items():
        for number, value in enumerate(values):
            changed = fields | {name: value}
            tried += 1
            refused, ours = read(changed, weights)
            if refused:
                assert refused == name or name in USED | AGREE, (name, value)
                continue
            accepted.add(name)
            try:
                model, whole = theirs(tmp_path / str(number), changed, weights)
                expected = model(texts()).logits
            except Exception:  # noqa: BLE001  it takes no such value
                assert name in SILENT, (name, value)
                continue
            assert whole, (name, value)
            torch.testing.assert_close(ours(texts()), expected, **NEAR)
    assert tried > 3_000 and len(accepted) > 20, (tried, accepted)
    assert accepted <= USED | AGREE | SILENT | NEUTRAL.keys()


@pytest.mark.parametrize("name", HONEST)
def test_honest_files_give_the_logits_of_the_package(name, tmp_path):
    """Published fields with small sizes: both read them, and agree."""
    fields = HONEST[name][1] | SIZES
    if fields.get("head_dim"):
        fields["head_dim"] = 8
    for angles in ("rope_scaling", "rope_parameters"):
        if fields.get(angles, {}):
            wide = "original_max_position_embeddings"
            few = {wide: 64} if wide in fields[angles] else {}
            fields[angles] = fields[angles] | few
    if fields.get("sliding_window"):
        fields["sliding_window"] = 5
    config = CONFIG_MAPPING[fields["model_type"]](**fields)
    model = transformers.AutoModelForCausalLM.from_config(config)
    weights = dict(randomise(model.float()).state_dict())
    assert agree(tmp_path, fields, weights) is None


@pytest.mark.parametrize(
    "change",
    [
        {"layer_types": ["full_attention"] * 2},
        {"use_sliding_window": False, "sliding_window": None},
        {"num_key_value_heads": None, "head_dim": None},
        {"rope_parameters": None, "rope_theta": 500},
        {"rope_parameters": None, "rope_scaling": SLOWER},
        {"rope_parameters": {"type": "linear", "factor": 3}},
        {"rope_parameters": SLOWER | {"type": "llama3"}, "rope_theta": 1e3},
        {"rms_norm_eps": 1.0, "attention_dropout": 0, "pretraining_tp": 2},
        {"max_position_embeddings": 8, "hidden_act": "silu"},
        {"dtype": "float16", "torch_dtype": "bfloat16", "is_decoder": False},
    ],
)
def test_what_is_accepted_is_computed_alike(change, tmp_path):
    heads = {"num_key_value_heads": 4} if "head_dim" in change else {}
    fields, weights = good("llama", **heads)
    for name in ("", "rope_parameters", "rms_norm_eps"):
        less = {k: v for k, v in fields.items() if k != name}
        assert agree(tmp_path / name, less | change, weights) is None


@pytest.mark.parametrize("kind", ["default", "linear", "llama3"])
@pytest.mark.parametrize("family", OURS)
def test_many_positions(family, kind, tmp_path):
    """Up to 2,000 places; their angles are rounded to float32."""
    angles = {"rope_type": kind, "rope_theta": 1_000.0, "factor": 8.0}
    angles = {"default": {}, "linear": angles, "llama3": SLOWER}[kind]
    fields, weights = good(family)
    fields = fields | {"rope_parameters": angles}
    fields["max_position_embeddings"] = 4_096
    _, ours = read(fields, weights)
    model, _ = theirs(tmp_path, fields, weights)
    ids = texts(batch=1, length=2_000)
    near = {"rtol": 0, "atol": 1e-4}
    torch.testing.assert_close(ours(ids), model(ids).logits, **near)
