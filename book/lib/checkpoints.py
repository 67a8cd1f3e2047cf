"""Checkpoints as files: named tensors and what JSON can say about them.

Not taught. A safetensors file, which holds numbers and no code.
"""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from lib.runtime import replace_file

Parts = dict[str, dict[str, Tensor]]


def write(path: Path | str, parts: Parts, about: dict) -> None:
    """Write the tensors of each part, and `about` into the header.

    It is written aside and then renamed, so that no crash leaves half a
    checkpoint. Every tensor is copied: modules may share one, which the
    format does not allow.

    Raises:
        OSError: it cannot be written; what was there before is intact.
    """
    tensors = {
        f"{part}.{name}": tensor.clone(memory_format=torch.contiguous_format)
        for part, named in parts.items()
        for name, tensor in named.items()
    }
    replace_file(Path(path), save(tensors, {"json": json.dumps(about)}))


def read(path: Path | str) -> tuple[Parts, dict]:
    """What `write` was given.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or something else.
    """
    content = Path(path).read_bytes()
    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        about = json.loads(header["__metadata__"]["json"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(
            "checkpoint: expected a complete file from save_checkpoint, got "
            f"{len(content)} bytes that are none ({error}): {path}"
        ) from error
    parts: Parts = {}
    for key, tensor in tensors.items():
        part, name = key.split(".", 1)
        parts.setdefault(part, {})[name] = tensor
    return parts, about
