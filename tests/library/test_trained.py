"""kit.trained: committed models are those of their cards, and they work."""

import shutil

import pytest
import torch

from kit.dates import batches, generate, splits
from kit.one_text import OneText, one_text_batches
from kit.trained import FOLDER, date_model, one_text_model
from lib.training import exact_match
from tests.library.draw import DEVICE, same


@pytest.mark.parametrize("load", [date_model, one_text_model])
def test_the_model_reads_dates_and_is_ready_to_be_asked(load):
    random = torch.get_rng_state()
    model, source, target, card = load(DEVICE)
    same(torch.get_rng_state(), random)
    assert not any(module.training for module in model.modules())
    for weight in model.parameters():
        assert weight.dtype == torch.float64 and not weight.requires_grad
    assert source.decode(source.encode("2019年3月3日")) == "2019年3月3日"
    examples = generate(splits()["validation"][:300])
    if load is date_model:
        unseen = batches(examples, source, target)
        share = exact_match(model, unseen)
    else:
        unseen = one_text_batches(examples, source)
        share = exact_match(OneText(model), unseen, pad_id=-100)
    assert share > 0.98 and card["test"] > 0.98


def test_weights_that_are_missing_or_not_those_of_the_card_are_refused(
    tmp_path,
):
    shutil.copy(FOLDER / "dates.json", tmp_path)
    with pytest.raises(FileNotFoundError, match="dates.safetensors"):
        date_model(folder=tmp_path)
    content = bytearray((FOLDER / "dates.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "dates.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match="expected the weights of the card"):
        date_model(folder=tmp_path)
