"""kit.meter: bytes of tensors that come and go."""

import torch

from kit.meter import peak_bytes
from tests.library.draw import DEVICE


def test_the_peak_counts_what_lives_at_one_time():
    x = torch.ones(256, device=DEVICE)
    assert peak_bytes(lambda x: x + 1, x) == 1024
    assert peak_bytes(lambda x: (x + 1) * 2, x) == 2048
    assert peak_bytes(lambda x: (x + 1) * 2 + 1, x) == 2048  # one is gone
    assert peak_bytes(lambda x: (x + 1).mul_(2), x) == 1024
    assert peak_bytes(lambda x: x.view(2, 128).mT, x) == 0
    assert peak_bytes(lambda x: x[:2] + 1, x) == 8
    assert peak_bytes(lambda x: x.topk(8), x) == 8 * (4 + 8)
