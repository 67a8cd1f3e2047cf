"""A mask that hides nothing should change nothing."""

import torch
from local_attention import LocalAttention

attention = LocalAttention(window_size=8, autopad=True)
x, mask = torch.randn(1, 1, 7, 16), torch.ones(1, 7, dtype=torch.bool)
print((attention(x, x, x) - attention(x, x, x, mask=mask)).abs().max().item())
