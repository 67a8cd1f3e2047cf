"""The checkpoint on the page *Their weights, your prompt* is what it says.

Its files, its ids, its logits and its answers; nothing is downloaded.
"""

import json

import pytest
import torch
from safetensors.torch import load_file
from transformers import LlamaForCausalLM

from lib.llama import DecoderOnly, load_llama, read_config
from tests.conformance.beside import close
from tests.conformance.tiny_speaker import FOLDER, answers, build


@pytest.fixture(scope="module")
def kept():
    """The weights, as they are stored."""
    return load_file(FOLDER / "model.safetensors")


def test_the_files_are_written_from_the_model_of_chapter_16(kept):
    model, words = build()
    theirs = model.state_dict()
    assert theirs.keys() == kept.keys()
    assert all(torch.equal(theirs[name], kept[name]) for name in kept)
    text = (FOLDER / "tokenizer.json").read_text(encoding="utf-8")
    assert words.to_str() == type(words).from_str(text).to_str()


def test_the_answers_are_what_the_package_says_to_the_files():
    record = (FOLDER / "record.json").read_text(encoding="utf-8")
    assert answers() == json.loads(record)


def test_logits_are_theirs_in_one_pass_and_with_a_cache(kept):
    theirs = LlamaForCausalLM.from_pretrained(FOLDER, dtype=torch.float32)
    fields = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    ours = DecoderOnly(read_config(fields)).requires_grad_(False)
    load_llama(ours, kept)
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(fields["vocab_size"], (3, 20), generator=draw)
    expected, cache = theirs(ids).logits, ours.empty_cache()
    parts = [ours(part, cache) for part in ids.split((9, 1, 7, 3), dim=1)]
    for logits in (ours(ids), torch.cat(parts, dim=1)):
        close(logits, expected)
