"""A mask of the documented shape, batch by length, should be taken."""

import torch
from monai.networks.blocks.selfattention import SABlock

block = SABlock(16, 2, use_flash_attention=True).eval()
x, mask = torch.randn(2, 7, 16), torch.ones(2, 7, dtype=torch.bool)
block(x, attn_mask=mask)
