"""kit.trained: the committed model is the one of the card, and it works."""

import json
import shutil

import pytest
import torch

from kit.trained import FOLDER, date_model
from tests.library.draw import DEVICE


@pytest.fixture
def copied(tmp_path):
    for name in ("dates.json", "dates.safetensors"):
        shutil.copy(FOLDER / name, tmp_path / name)
    return tmp_path


def test_the_model_reads_a_date():
    model, source, target, card = date_model(DEVICE)
    ids = [[target.bos_id]]
    text = torch.tensor([source.encode("dimanche 3 mars 2019")]).to(DEVICE)
    for _ in range(11):
        logits = model(text, torch.tensor(ids).to(DEVICE))
        ids[0].append(logits[0, -1].argmax().item())
    assert target.decode(ids[0]) == "2019-03-03"
    assert ids[0][-1] == target.eos_id
    assert card["test"] > 0.98


def test_it_is_ready_to_be_asked():
    random = torch.get_rng_state()
    model, source, target, card = date_model()
    assert not any(module.training for module in model.modules())
    for weight in model.parameters():
        assert weight.dtype == torch.float64 and not weight.requires_grad
    assert model.config.source_vocab_size == len(source)
    assert model.config.target_vocab_size == len(target)
    assert source.tokens[4:] == card["source"]
    assert source.decode(source.encode("2019年3月3日")) == "2019年3月3日"
    assert torch.equal(random, torch.get_rng_state())


def test_a_copy_is_the_same(copied):
    here, there = date_model().model, date_model(folder=copied).model
    for a, b in zip(here.parameters(), there.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("damage", ["weights", "card"])
def test_other_weights_than_the_card_says_are_refused(copied, damage):
    if damage == "weights":
        file = copied / "dates.safetensors"
        content = bytearray(file.read_bytes())
        content[-1] ^= 1
        file.write_bytes(content)
    else:
        file = copied / "dates.json"
        card = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps(card | {"sha256": "0" * 64}))
    with pytest.raises(ValueError, match="expected the weights of the card"):
        date_model(folder=copied)


def test_a_missing_file_is_named(copied):
    (copied / "dates.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="dates.safetensors"):
        date_model(folder=copied)
