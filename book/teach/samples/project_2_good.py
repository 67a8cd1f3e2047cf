"""Multi-head attention with NumPy, one einsum a step."""

import numpy as np


class Attention:
    """Weights are cut into heads once, when the layer is made."""

    def __init__(self, weights, heads):
        w = {name: np.array(value) for name, value in weights.items()}
        width = len(w["W_q"])
        if width % heads:
            raise ValueError(f"{heads} heads do not divide a width of {width}")
        shape = (width, heads, width // heads)
        self.into = {n: w[f"W_{n}"].reshape(shape) for n in "qkv"}
        self.added = {n: w[f"b_{n}"].reshape(shape[1:]) for n in "qkv"}
        self.out = w["W_o"].reshape(*shape[1:], width)
        self.bias = w["b_o"]

    def project(self, x, name):
        into, added = self.into[name], self.added[name]
        return np.einsum("nld,dhc->nhlc", x, into) + added[:, None]

    def __call__(self, queries, source=None, allowed=None):
        queries = np.array(queries)
        source = queries if source is None else np.array(source)
        q = self.project(queries, "q")
        k, v = self.project(source, "k"), self.project(source, "v")
        scores = np.einsum("nhic,nhjc->nhij", q, k) / np.sqrt(q.shape[-1])
        if allowed is None:
            allowed = np.ones((len(q), q.shape[2], k.shape[2]), bool)
        seen = np.array(allowed)[:, None]
        # The largest score that counts is taken off; where none counts,
        # all shares are 0, and so is their sum.
        top = np.where(seen, scores, -np.inf).max(-1, keepdims=True)
        shares = np.where(seen, np.exp(np.minimum(scores - top, 0)), 0)
        total = shares.sum(-1, keepdims=True)
        weights = shares / np.where(total == 0, 1, total)
        context = np.einsum("nhij,nhjc->nhic", weights, v)
        output = np.einsum("nhic,hcd->nid", context, self.out) + self.bias
        return output.tolist()
