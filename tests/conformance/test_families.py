"""Files of five families: read as `transformers` reads them, or refused.

A good file of a small random model is changed: it gets each field of each
decoder of the package; those of 2025 each of their three classes and of some
of their relatives. What our loader does not refuse, it must compute as
`transformers` does from the very same file. Nothing is downloaded.
"""

import dataclasses
import json
import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors.torch import load_file, save_file
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CLASSES,
)

from lib.families import FamilyModel, load_family, read_family
from lib.llama import DecoderOnly, load_llama, read_config
from lib.validate import families, llama_known
from tests.conformance import tiny_families as tiny
from tests.conformance.beside import close
from tests.conformance.tiny_llama import FIELDS, randomise, texts
from tests.library.llama_files import HONEST, SIZES, SLOWER

pytestmark = pytest.mark.filterwarnings("ignore")
transformers.logging.set_verbosity_error()
PARTS = (12,), (4, 1, 1, 3, 1, 2)


class Loader(NamedTuple):
    """One of ours, and the fields that it knows of a family."""

    read: Callable
    model: type
    load: Callable
    used: set  # or held against those that are
    silent: set
    neutral: dict
    classes: tuple = CLASSES  # a file gets each field of these


LLAMA = Loader(
    read=read_config,
    model=DecoderOnly,
    load=load_llama,
    used=llama_known.USED | llama_known.AGREE,
    silent=llama_known.SILENT,
    neutral=llama_known.NEUTRAL,
)
RELATIVES = "deepseek_v3", "gpt_oss", "olmo3", "qwen2_moe", "qwen3_next"
LOADERS = {"llama": LLAMA, "mistral": LLAMA} | {
    family: Loader(
        read=read_family,
        model=FamilyModel,
        load=load_family,
        used=families.USED[family] | families.AGREE[family],
        silent=families.SILENT[family],
        neutral=families.NEUTRAL,
        classes=(*tiny.FAMILIES, *RELATIVES),
    )
    for family in tiny.FAMILIES
}
GOOD = {"llama": FIELDS, "mistral": FIELDS | {"sliding_window": 4}}
GOOD |= tiny.FAMILIES


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
def saved(family, changes):
    return tiny.saved(tiny.build(family, GOOD[family] | json.loads(changes)))


def good(family, **changes):
    """A file that both read: fields and weights."""
    return saved(family, json.dumps(changes))


def read(family, fields, weights):
    """None and our model; or what our loader names first, and no model.

    It names a field, one of the angles' fields, or a tensor, or what lacks.
    """
    loader = LOADERS[family]
    try:
        config = loader.read(fields)
        with torch.device("meta"):  # it may say that it is very large
            loader.load(loader.model(config), weights)
        model = loader.model(config).requires_grad_(False)
        loader.load(model, weights)
        return None, model
    except (ValueError, TypeError) as error:
        message = str(error)
    name = message.partition(": expected ")[0].partition(" of rope_")[0]
    angles = [fields.get(n) for n in ("rope_parameters", "rope_scaling")]
    used = [one.used for one in LOADERS.values() if one.read is loader.read]
    known = {*fields, *weights, *SLOWER, "type"}.union(*used)
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
        attn_implementation="eager", experts_implementation="eager",
    )  # fmt: skip
    whole = not any(said[kind] for kind in said if kind.endswith("_keys"))
    return model.eval().requires_grad_(False), whole


def agree(family, folder, fields, weights):
    """Refused by a name that the file has or lacks, or computed alike."""
    name, ours = read(family, fields, weights)
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
            close(ours(part, cache), out.logits)
    return None


def others(value):
    """Values of the same kind, and of another."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int | float):
        return [value * 2 + 1, value / 2, 0, 3, None]
    return [True, False, 3, 0.5, "gelu", ["full_attention", "conv"], {}]


def mutations(families):
    """Each field of each class, with its default and with other values."""
    found = {}
    for family in families:
        for name, value in defaults(family).items():
            for one in (value, *others(value)):
                found.setdefault(name, {})[json.dumps(one)] = one
    return {name: list(values.values()) for name, values in found.items()}


@pytest.mark.parametrize("family", LOADERS)
def test_a_good_file_with_each_field_of_each_class(family, tmp_path):
    """Whatever is accepted gives the logits of the package."""
    fields, weights = good(family)
    ids, loader = texts(vocab=fields["vocab_size"]), LOADERS[family]
    accepted, tried = set(), 0
    for name, values in mutations(loader.classes).items():
        for number, value in enumerate(values):
            changed = fields | {name: value}
            tried += 1
            refused, ours = read(family, changed, weights)
            if refused:
                blamed = refused == name or name in loader.used
                assert blamed, (name, value, refused)
                continue
            accepted.add(name)
            try:
                model, whole = theirs(tmp_path / str(number), changed, weights)
                expected = model(ids).logits
            except Exception:  # noqa: BLE001  it takes no such value
                assert name in loader.silent, (name, value)
                continue
            assert whole, (name, value)
            close(ours(ids), expected)
    assert tried > (3_000 if loader is LLAMA else 500)
    assert len(accepted) > 20, accepted
    assert accepted <= loader.used | loader.silent | loader.neutral.keys()


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
    assert agree("llama", tmp_path, fields, weights) is None


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
        assert agree("llama", tmp_path / name, less | change, weights) is None


@pytest.mark.parametrize("kind", ["default", "linear", "llama3"])
@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_many_positions(family, kind, tmp_path):
    """Up to 2,000 places; their angles are rounded to float32."""
    angles = {"rope_type": kind, "rope_theta": 1_000.0, "factor": 8.0}
    angles = {"default": {}, "linear": angles, "llama3": SLOWER}[kind]
    fields, weights = good(family)
    fields = fields | {"rope_parameters": angles}
    fields["max_position_embeddings"] = 4_096
    _, ours = read(family, fields, weights)
    model, _ = theirs(tmp_path, fields, weights)
    ids = texts(batch=1, length=2_000)
    close(ours(ids), model(ids).logits, 1e-4)


@pytest.mark.parametrize(
    ("family", "change"),
    [
        ("qwen3", {"tie_word_embeddings": True}),
        (
            "qwen3",
            {"num_key_value_heads": 4, "hidden_size": 16, "head_dim": 4},
        ),
        ("qwen3", {"use_sliding_window": False, "sliding_window": 2}),
        ("qwen3_moe", {"norm_topk_prob": False}),
        ("qwen3_moe", {"num_hidden_layers": 3, "decoder_sparse_step": 2}),
        ("qwen3_moe", {"num_hidden_layers": 3, "mlp_only_layers": [1]}),
        ("qwen3_moe", {"num_experts_per_tok": 5, "num_key_value_heads": 1}),
        ("dots1", {"norm_topk_prob": False, "routed_scaling_factor": 1.0}),
        ("dots1", {"first_k_dense_replace": 0, "n_shared_experts": 1}),
        ("dots1", {"sliding_window": None, "num_experts_per_tok": 1}),
    ],
)
def test_other_sizes_are_computed_alike(family, change, tmp_path):
    fields, weights = good(family, **change)
    assert agree(family, tmp_path, fields, weights) is None


EVER_USED = set().union(*families.USED.values())


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("lacking", [None, *sorted(EVER_USED)])
def test_a_file_that_says_less(family, lacking, tmp_path):
    """Where a field lacks it is refused, or is what the package takes."""
    fields, weights = good(family, head_dim=4, hidden_size=16)
    less = {k: v for k, v in fields.items() if k != lacking}
    name, ours = read(family, less, weights)
    if name is None:
        model, whole = theirs(tmp_path, less, weights)
        assert whole
        close(ours(tiny.ids()), model(tiny.ids()).logits)


def test_the_record_of_the_page_is_what_the_package_says():
    fields = json.loads((tiny.FOLDER / "families.json").read_text("utf-8"))
    kept = load_file(tiny.FOLDER / "families.safetensors")
    said, tensors = tiny.recorded()
    assert fields == said and kept.keys() == tensors.keys()
    for name, tensor in tensors.items():
        close(kept[name], tensor)
