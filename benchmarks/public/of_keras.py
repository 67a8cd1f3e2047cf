"""Keras' attention, on its PyTorch backend."""

import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras  # noqa: E402
import torch  # noqa: E402

from benchmarks import public  # noqa: E402

DTYPE = "a dtype policy, given when the layer is made, decides this"


def keras_heads() -> keras.Layer:
    """The layer with each projection the identity: its kernels have 3 axes."""
    sizes = (public.HEADS, public.HEAD)
    module = keras.layers.MultiHeadAttention(*sizes, dropout=public.DROPOUT)
    module.build((None, None, public.WIDTH), (None, None, public.WIDTH))
    for name in ("query", "key", "value", "output"):
        kernel = getattr(module, f"{name}_dense").kernel
        kernel.assign(torch.eye(public.WIDTH).view(*kernel.shape))
    return module


@public.subject(
    "keras",
    "keras.layers.MultiHeadAttention",
    "MultiHeadAttention",
    leave={"half precision": DTYPE},
)
def keras_weights():
    def ask(inner, q, k, v, mask):
        return inner(
            q,
            v,
            k,
            attention_mask=mask,
            return_attention_scores=True,
            training=inner.training,
        )

    words = {"call": "q k v mask -> out weights", "mask_axes": "n q k"}
    module = public.Called(keras_heads(), ask)
    return module, public.said(projections=False, **words)
