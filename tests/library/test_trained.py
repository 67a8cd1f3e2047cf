"""kit.trained: committed models are those of their cards."""

import shutil

import pytest
import torch

from kit.trained import FOLDER, date_model, one_text_model
from tests.library.draw import DEVICE, same


@pytest.mark.parametrize("load", [date_model, one_text_model])
def test_the_model_is_ready_to_be_asked(load):
    """Chapters 12 and 16 print how many dates it reads."""
    random = torch.get_rng_state()
    model, source, target, card = load(DEVICE)
    same(torch.get_rng_state(), random)
    assert not any(module.training for module in model.modules())
    for weight in model.parameters():
        assert weight.dtype == torch.float64 and not weight.requires_grad
    assert source.decode(source.encode("2019年3月3日")) == "2019年3月3日"
    assert target.decode(target.encode("2019-03-03")) == "2019-03-03"
    assert card["test"] > 0.98


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
