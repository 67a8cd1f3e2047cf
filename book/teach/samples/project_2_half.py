"""Multi-head attention with torch."""

import torch


class Attention:
    def __init__(self, weights, heads):
        self.w = {k: torch.tensor(v).double() for k, v in weights.items()}
        self.heads = heads

    def __call__(self, queries, source=None, allowed=None):
        x = torch.tensor(queries).double()
        y = x if source is None else torch.tensor(source).double()
        w = self.w
        n, length, d = x.shape
        q = x @ w["W_q"] + w["b_q"]
        k = y @ w["W_k"] + w["b_k"]
        v = y @ w["W_v"] + w["b_v"]
        size = d // self.heads
        q = q.view(n, length, self.heads, size).transpose(1, 2)
        k = k.view(n, -1, self.heads, size).transpose(1, 2)
        v = v.view(n, -1, self.heads, size).transpose(1, 2)
        scores = q @ k.transpose(2, 3) / size**0.5
        if allowed is not None:
            mask = torch.tensor(allowed)[:, None]
            scores = scores.masked_fill(~mask, -1e9)
        out = torch.exp(scores)
        out = out / out.sum(3, keepdim=True) @ v
        out = out.transpose(1, 2).reshape(n, length, d)
        return (out @ w["W_o"] + w["b_o"]).tolist()
