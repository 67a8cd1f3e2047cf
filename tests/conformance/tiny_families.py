"""Small random models of three families of 2025, by the public package.

    python -m tests.conformance.tiny_families

in the environment of `make conformance` writes two files to `book/data`:
`families.json`, a configuration of each family as `transformers` saves it, and
`families.safetensors`: the weights by the names of published files, some token
ids, and the logits that `transformers` computes for them. Nothing is
downloaded. The sizes are unusual on purpose, so that no two can be taken for
each other; the heads are wider together than the model.
"""

import json
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

from tests.conformance.tiny_llama import randomise, texts

FOLDER = Path(__file__).parents[2] / "book" / "data"
SIZES = {
    "vocab_size": 23,
    "hidden_size": 14,
    "intermediate_size": 17,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "rms_norm_eps": 1e-3,
    "rope_parameters": {"rope_theta": 1_000.0, "rope_type": "default"},
}
EXPERTS = {"moe_intermediate_size": 9, "num_experts_per_tok": 2}
FAMILIES = {
    "qwen3": SIZES,
    "qwen3_moe": SIZES | EXPERTS | {"num_experts": 5, "norm_topk_prob": True},
    "dots1": SIZES | EXPERTS | {
        "n_routed_experts": 5, "n_shared_experts": 2, "norm_topk_prob": True,
        "first_k_dense_replace": 1, "routed_scaling_factor": 2.5,
    },
}  # fmt: skip


def build(family, fields):
    """A model of the package with random weights, its biases included."""
    config = AutoConfig.for_model(family, **fields)
    model = AutoModelForCausalLM.from_config(
        config, attn_implementation="eager", experts_implementation="eager"
    )
    randomise(model)
    generator = torch.Generator().manual_seed(2)
    for name, tensor in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            tensor.normal_(std=0.3, generator=generator)
    for weight in model.parameters():
        if weight.ndim == 3:  # of all experts: by the width of one
            weight.normal_(std=weight.shape[2] ** -0.5, generator=generator)
    return model


def saved(model):
    """The fields and the weights that the package writes."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        text = Path(folder, "config.json").read_text(encoding="utf-8")
        return json.loads(text), load_file(Path(folder, "model.safetensors"))


def ids():
    return texts(vocab=SIZES["vocab_size"])


def recorded():
    """The fields of each family, and all tensors by family and name."""
    fields, tensors = {}, {"ids": ids()}
    for family, sizes in FAMILIES.items():
        model = build(family, sizes)
        fields[family], weights = saved(model)
        weights["logits"] = model(ids()).logits
        tensors |= {f"{family}/{name}": w for name, w in weights.items()}
    return fields, tensors


def main() -> None:
    fields, tensors = recorded()
    save_file(tensors, FOLDER / "families.safetensors")
    text = json.dumps(fields, indent=1)
    (FOLDER / "families.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
