"""A module in half precision should run."""

import torch
from labml_nn.transformers.rope import RotaryPEMultiHeadAttention

attention = RotaryPEMultiHeadAttention(heads=2, d_model=16).half()
x = torch.randn(7, 1, 16).half()
attention(query=x, key=x, value=x)
