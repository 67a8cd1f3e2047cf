"""A small random LLaMA for chapter 16, written by the public package.

    python -m tests.conformance.tiny_llama

in the environment of `make conformance` writes two files to `book/data`:
`llama.json`, the configuration as `transformers` saves it, and
`llama.safetensors`: the weights, some token ids, and the logits that
`transformers` computes for them, once more with the angles of LLaMA 3.1
stretched as `SLOWER` says. Nothing is downloaded. The sizes are unusual
on purpose, so that no two can be taken for each other.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

from tests.library.llama_files import SIZES, SLOWER

FOLDER = Path(__file__).parents[2] / "book" / "data"
FIELDS = SIZES | {
    "rms_norm_eps": 1e-3,
    "rope_parameters": {"rope_theta": 1_000.0, "rope_type": "default"},
}


def randomise(model, seed=0):
    """All weights drawn anew, gains of the norms included."""
    torch.manual_seed(seed)
    for weight in model.eval().requires_grad_(False).parameters():
        if weight.ndim == 1:
            weight.uniform_(0.5, 1.5)
        elif weight.is_floating_point():
            weight.normal_(std=weight.shape[1] ** -0.5)
    return model


def build(**changes):
    """`LlamaForCausalLM` with random weights."""
    config = LlamaConfig(**FIELDS | changes, attn_implementation="eager")
    return randomise(LlamaForCausalLM(config))


def texts(batch=2, length=12, vocab=50):
    """Token ids."""
    generator = torch.Generator().manual_seed(1)
    return torch.randint(vocab, (batch, length), generator=generator)


def main() -> None:
    model, ids = build(), texts()
    slower = build(rope_parameters=SLOWER)
    recorded = {"ids": ids, "logits": model(ids).logits}
    recorded["stretched"] = slower(ids).logits
    weights = {name: w.clone() for name, w in model.state_dict().items()}
    save_file(weights | recorded, FOLDER / "llama.safetensors")
    fields = json.loads(model.config.to_json_string(use_diff=True))
    text = json.dumps(dict(sorted(fields.items())), indent=1)
    (FOLDER / "llama.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
