"""A module in half precision should run."""

import torch
from memory_efficient_attention_pytorch import FlashAttention

attention = FlashAttention(dim=16, heads=2, dim_head=8).half()
attention(torch.randn(1, 7, 16).half())
