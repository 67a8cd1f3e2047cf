"""Keras' attention, on its PyTorch backend."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras  # noqa: E402
import torch  # noqa: E402

from benchmarks import public  # noqa: E402

DTYPE = "a dtype policy, given when the layer is made, decides this"


def keras_weights():
    """Each projection is the identity: its kernels have 3 axes."""
    sizes = (public.HEADS, public.HEAD)
    module = keras.layers.MultiHeadAttention(*sizes, dropout=public.DROPOUT)
    module.build((None, None, public.WIDTH), (None, None, public.WIDTH))
    for name in ("query", "key", "value", "output"):
        kernel = getattr(module, f"{name}_dense").kernel
        kernel.assign(torch.eye(public.WIDTH).view(*kernel.shape))

    def ask(inner, q, k, v, mask):
        options = {"return_attention_scores": True, "training": inner.training}
        return inner(q, v, k, attention_mask=mask, **options)

    words = {"mask_axes": "n q k", "projections": False}
    call = "q k v mask -> out weights"
    return public.Called(module, ask), public.said(call, **words)


SUBJECTS = [
    public.Subject(
        "keras",
        "MultiHeadAttention",
        keras_weights,
        leave={"half precision": DTYPE},
    )
]
