"""A training pass with torch's kernel should run."""

import torch
from curated_transformers.layers import attention as curated

score = curated.ScaledDotProductAttention(dropout_prob=0.3, linear_biases=None)
mask = curated.AttentionMask(torch.ones(1, 7, dtype=torch.bool))
given = dict.fromkeys(("query", "key", "value"), torch.randn(1, 2, 7, 8))
with curated.enable_torch_sdp():
    score(**given, attention_mask=mask, use_causal_mask=False)
