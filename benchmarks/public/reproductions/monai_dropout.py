"""Two evaluations of one input should be equal."""

import torch
from monai.networks.blocks.selfattention import SABlock

block = SABlock(16, 2, 0.3, use_flash_attention=True).eval()
x = torch.randn(1, 7, 16)
print((block(x) - block(x)).abs().max().item())
