"""What is small in kit: the meter, the gallery of bugs, the table of public
packages (all of which chapter 20 prints), and the trained models.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
import torch

from kit import conformance
from kit.conformance import FAMILIES, MARKS
from kit.gallery import GALLERY
from kit.meter import peak_bytes
from kit.trained import FOLDER, date_model, one_text_model
from tests.library.draw import DEVICE, same


def test_the_peak_counts_what_lives_at_one_time():
    x = torch.ones(256, device=DEVICE)
    assert peak_bytes(lambda x: x + 1, x) == 1024
    assert peak_bytes(lambda x: (x + 1) * 2, x) == 2048
    assert peak_bytes(lambda x: (x + 1) * 2 + 1, x) == 2048  # one is gone
    assert peak_bytes(lambda x: (x + 1).mul_(2), x) == 1024
    assert peak_bytes(lambda x: x.view(2, 128).mT, x) == 0
    assert peak_bytes(lambda x: x[:2] + 1, x) == 8
    assert peak_bytes(lambda x: x.topk(8), x) == 8 * (4 + 8)


RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
RECORD = json.loads((RESULTS / "conformance.json").read_text())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_table_fits_a_telephone_and_explains_itself(family):
    text = conformance.table(RECORD, family)
    assert max(map(len, text.splitlines())) <= 40
    for name in (*FAMILIES[family], *MARKS):
        assert name in text


def test_each_bug_has_a_name_of_its_own_and_fits_the_page():
    """Chapter 20 asks for its number, and the page of the gallery has it."""
    assert len({bug.name for bug in GALLERY}) == len(GALLERY)
    for bug in GALLERY:
        for path in f"{bug.where} {bug.told}".split():
            assert re.match(
                r"[\w.-]+/[\w.-]+/((issues|pull)/\d+$|blob/)", path
            )
    lines = [line for bug in GALLERY for line in bug.wrong.splitlines()]
    assert max(map(len, lines)) <= 79


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
