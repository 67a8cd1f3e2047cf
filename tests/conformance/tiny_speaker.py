"""The decoder alone of chapter 16, in the files of a public checkpoint.

    python -m tests.conformance.tiny_speaker

in the environment of `make conformance` writes `book/data/speaker`:
`config.json` and `model.safetensors` as `transformers` saves them, with
weights in bfloat16; `tokenizer.json` of the package `tokenizers`; and
`record.json`: what `transformers` answers to `PROMPTS`.
"""

import json
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from kit.trained import one_text_model
from lib.llama import NAMES
from lib.modern import halves_from_pairs

FOLDER = Path(__file__).parents[2] / "book" / "data" / "speaker"
PROMPTS = (
    *("14 juillet 1989", "14 juillet 1789", "25. Dezember 1999"),
    *("3 March 2019", "2 de mayo de 2024", "7 ноября 1917 г."),
)
LIMIT = 12  # an ISO date and EOS have 11 tokens


def tokenizer(vocabulary):
    """Characters as tokens; BOS stands behind the text, as in training."""
    made = Tokenizer(WordLevel(vocabulary.ids, unk_token="<unk>"))
    made.add_special_tokens(vocabulary.tokens[:4])
    made.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
    made.post_processor = TemplateProcessing(
        single="$A <bos>", special_tokens=[("<bos>", vocabulary.bos_id)]
    )
    made.decoder = decoders.Fuse()
    return made


def their_weights(model):
    """The weights by the names of `transformers`; heads pair halves there."""
    own, c = model.float().state_dict(), model.config
    found = {
        "model.embed_tokens.weight": own["table.weight"],
        "model.norm.weight": own["norm.weight"],
        "lm_head.weight": own["output.weight"],
    }
    widths = [n * c.d_model // c.heads for n in (c.heads, c.kv_heads)]
    for i in range(c.layers):
        block, layer = f"blocks.{i}", f"model.layers.{i}"
        joined = own[f"{block}.attention.in_proj.weight"]
        parts = joined.split([*widths, widths[1]])
        heads = (c.heads, c.kv_heads, None)
        for name, w, many in zip("qkv", parts, heads, strict=True):
            if many:
                w = halves_from_pairs(w, many)
            found[f"{layer}.self_attn.{name}_proj.weight"] = w
        for ours, theirs in NAMES.items():
            found[f"{layer}.{theirs}.weight"] = own[f"{block}.{ours}.weight"]
    return found


def build():
    """`LlamaForCausalLM` with the weights of the book's model."""
    kept = one_text_model()
    c, words = kept.model.config, kept.source
    config = LlamaConfig(
        vocab_size=c.vocab_size,
        hidden_size=c.d_model,
        intermediate_size=c.d_ff,
        num_hidden_layers=c.layers,
        num_attention_heads=c.heads,
        num_key_value_heads=c.kv_heads,
        rms_norm_eps=c.eps,
        rope_parameters={"rope_theta": c.base, "rope_type": "default"},
        max_position_embeddings=64,
        bos_token_id=words.bos_id,
        eos_token_id=words.eos_id,
        pad_token_id=words.pad_id,
    )
    model = LlamaForCausalLM(config)
    model.load_state_dict(their_weights(kept.model))
    return model.bfloat16().eval(), tokenizer(words)


@torch.no_grad()
def answers(folder=FOLDER):
    """What `transformers` answers, by nothing but the files."""
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    file = str(folder / "tokenizer.json")
    words = PreTrainedTokenizerFast(tokenizer_file=file)
    found = {}
    for prompt in PROMPTS:
        ids = words(prompt, return_tensors="pt")["input_ids"]
        mask = torch.ones_like(ids)
        every = model.generate(
            ids, attention_mask=mask, max_new_tokens=LIMIT, do_sample=False
        )[0]
        written = every[ids.shape[1] :]
        found[prompt] = {
            "ids": ids[0].tolist(),
            "written": written.tolist(),
            "text": words.decode(written, skip_special_tokens=True),
        }
    return found


def main() -> None:
    model, words = build()
    model.save_pretrained(FOLDER)
    (FOLDER / "generation_config.json").unlink(missing_ok=True)
    words.save(str(FOLDER / "tokenizer.json"))
    text = json.dumps(answers(), ensure_ascii=False, indent=1)
    (FOLDER / "record.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
