"""kit.meter: bytes of tensors that come and go."""

import pytest
import torch
import torch.nn.functional as F

from kit.meter import peak_bytes, saved_bytes
from lib.attention import attention
from tests.library.draw import DEVICE, normal


def test_the_peak_counts_what_lives_at_one_time():
    x = torch.ones(256, device=DEVICE)
    assert peak_bytes(lambda x: x + 1, x) == 1024
    assert peak_bytes(lambda x: (x + 1) * 2, x) == 2048
    assert peak_bytes(lambda x: (x + 1) * 2 + 1, x) == 2048  # one is gone
    assert peak_bytes(lambda x: (x + 1).mul_(2), x) == 1024
    assert peak_bytes(lambda x: x.view(2, 128).mT, x) == 0
    assert peak_bytes(lambda x: x[:2] + 1, x) == 8
    assert peak_bytes(lambda x: x.topk(8), x) == 8 * (4 + 8)


@pytest.mark.parametrize("length", [32, 64])
def test_attention_holds_two_tables(length):
    inputs = [normal(1, length, 8, seed=seed) for seed in range(3)]
    assert peak_bytes(attention, *inputs) == 2 * 4 * length**2


def test_kept_for_the_way_back():
    inputs = [normal(1, 1, 64, 8, seed=seed) for seed in range(3)]
    square, product = 4 * 64**2, 4 * 64 * 8
    kept = saved_bytes(attention, *inputs)
    assert square + product <= kept <= square + 2 * product
    fused = saved_bytes(F.scaled_dot_product_attention, *inputs)
    assert product < fused < 2 * product
    assert saved_bytes(lambda x: x * x, inputs[0]) == 0
