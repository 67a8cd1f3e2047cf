"""Five tokens should give the same alone and with two hidden ones."""

import torch
from performer_pytorch import SelfAttention

attention = SelfAttention(dim=16, heads=2, dim_head=8).eval()
x, mask = torch.randn(1, 7, 16), torch.arange(7)[None] < 5
hidden = attention(x, mask=mask)[:, :5]
print((hidden - attention(x[:, :5])).abs().max().item())
