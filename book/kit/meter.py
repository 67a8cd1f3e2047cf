"""How many bytes a call needs while it runs, and what it keeps.

Not taught. Counted are the tensors that come and go, by the bytes of their
storages; what a kernel borrows for itself is not seen.
"""

import weakref
from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class _Meter(TorchDispatchMode):
    """Notes each new storage, and when it is gone."""

    def __init__(self, given: set[int]):
        super().__init__()
        self.known, self.now, self.peak = given, 0, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self.note(leaf.untyped_storage())
        return result

    def note(self, storage) -> None:
        """Count a storage that was not there before."""
        name, size = storage._cdata, storage.nbytes()
        if name not in self.known:
            self.known.add(name)
            self.now += size
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self.gone, name, size)

    def gone(self, name: int, size: int) -> None:
        """A storage is no longer needed."""
        self.known.discard(name)
        self.now -= size


def peak_bytes(call: Callable, *inputs: Tensor) -> int:
    """The most bytes that `call(*inputs)` holds at any time.

    Without the inputs, but with the result.
    """
    with _Meter({x.untyped_storage()._cdata for x in inputs}) as meter:
        call(*inputs)
    return meter.peak


def saved_bytes(call: Callable, *inputs: Tensor) -> int:
    """The bytes kept for a backward pass, without those of the inputs."""
    given = {x.untyped_storage().data_ptr() for x in inputs}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in given:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    inputs = [x.detach().requires_grad_() for x in inputs]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        result = call(*inputs)  # as long as it lives, no address is used anew
    del result
    return sum(kept.values())
