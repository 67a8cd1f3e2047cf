"""Argument checks, one line at the place of use.

Not taught. A taught definition calls these first, so that it can read as its
formula. Every message names the argument, what was expected and what came.
"""

import json
import math
from collections.abc import Callable, Iterable, Sequence, Sized
from datetime import date
from pathlib import Path

import torch
from torch import Tensor

WHOLE = (int, torch.SymInt)  # the second while torch exports
ANY_ID = torch.iinfo(torch.int64).max
CONVENTION = {
    "may_attend": "True = may attend",
    "mask": "True = may NOT attend, as in torch",
}


def shape(tensor: Tensor) -> str:
    return f"shape {tuple(tensor.shape)}"


def tensors(**named: object) -> None:
    """Every argument is a tensor."""
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}: expected a tensor, got {type(value).__name__}"
            )


def are_floating(values: Iterable) -> bool:
    """Whether `floating` would find nothing to complain about."""
    dtype = None
    for x in values:
        if not isinstance(x, Tensor) or not x.is_floating_point():
            return False
        if x.dtype != (dtype or x.dtype):
            return False
        dtype = x.dtype
    return True


def floating(**named: object) -> None:
    """Every argument is a real floating-point tensor, all of one dtype."""
    if are_floating(named.values()):
        return  # a healthy forward pass comes here often
    tensors(**named)
    (first, one), *_ = named.items()
    for name, tensor in named.items():
        if not tensor.is_floating_point():
            raise TypeError(
                f"{name}: expected a floating-point tensor, got "
                f"{tensor.dtype}; convert it, for example with .float()"
            )
        if tensor.dtype != one.dtype:
            raise TypeError(
                f"{name}: expected {one.dtype}, the dtype of {first}, got "
                f"{tensor.dtype}"
            )


def rank_at_least(rank: int, **named: Tensor) -> None:
    """Every tensor has at least `rank` axes."""
    for name, tensor in named.items():
        if tensor.ndim < rank:
            raise ValueError(
                f"{name}: expected at least {rank} axes, got {tensor.ndim} "
                f"({shape(tensor)})"
            )


def axis(dim: int, **named: Tensor) -> None:
    """`dim` names an axis of the tensor, and that axis is not empty."""
    ((name, tensor),) = named.items()
    integer("dim", dim)
    if not -tensor.ndim <= dim < tensor.ndim:
        raise ValueError(
            f"dim: expected an axis of {name} ({shape(tensor)}), got {dim}"
        )
    if tensor.shape[dim] == 0:
        raise ValueError(
            f"{name}: expected at least one entry along axis {dim}, got "
            f"{shape(tensor)}"
        )


def integer(name: str, value: object, least: int | None = None) -> None:
    """A Python integer, not a bool, not below `least`."""
    if not isinstance(value, WHOLE) or isinstance(value, bool):
        raise TypeError(
            f"{name}: expected an integer, got {type(value).__name__}"
        )
    if least is not None and value < least:
        raise ValueError(f"{name}: expected at least {least}, got {value}")


def positive(**named: object) -> None:
    """Every argument is a positive integer."""
    for name, value in named.items():
        integer(name, value, least=1)


def row_or_none(name: str, value: object, rows: int) -> None:
    """None, or the index of a row."""
    if value is None:
        return
    integer(name, value, least=0)
    if value >= rows:
        raise ValueError(f"{name}: expected at most {rows - 1}, got {value}")


def probability(name: str, value: object) -> None:
    """A number from 0 up to, but not including, 1."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(
            f"{name}: expected a number, got {type(value).__name__}"
        )
    if not 0 <= value < 1:
        raise ValueError(f"{name}: expected 0 <= {name} < 1, got {value}")


def token_ids(ids: object, vocab_size: int | None, name: str = "ids") -> None:
    """An integer tensor with entries in 0 .. vocab_size - 1.

    The range is not looked at without a vocabulary (a GPU would have to
    wait), and while torch compiles or exports.
    """
    tensors(**{name: ids})
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(
            f"{name}: expected an integer tensor (int64 or int32), got "
            f"{ids.dtype}"
        )
    if vocab_size is None or torch.compiler.is_compiling():
        return
    if ids.numel() == 0:
        return
    low, high = (bound.item() for bound in ids.aminmax())
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise ValueError(
            f"{name}: expected ids from 0 to {vocab_size - 1}, got {wrong}"
        )


def id_list(ids: Iterable, size: int, name: str = "ids") -> list[int]:
    """The ids as a list of Python integers in 0 .. size - 1."""
    if isinstance(ids, Tensor):
        token_ids(ids, size, name)
        if ids.ndim != 1:
            raise ValueError(f"{name}: expected one axis, got {shape(ids)}")
        return ids.tolist()
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise TypeError(
            f"{name}: expected a list or tensor of integers, got "
            f"{type(ids).__name__}"
        )
    ids = list(ids)
    for i in ids:
        integer(name, i)
        if not 0 <= i < size:
            raise ValueError(
                f"{name}: expected ids from 0 to {size - 1}, got {i}"
            )
    return ids


def string(**named: object) -> None:
    """Every argument is a string."""
    for name, value in named.items():
        if not isinstance(value, str):
            raise TypeError(
                f"{name}: expected a string, got {type(value).__name__}"
            )


def booleans(**named: object) -> None:
    """Every argument is True or False."""
    for name, value in named.items():
        if not isinstance(value, bool):
            raise TypeError(
                f"{name}: expected True or False, got {type(value).__name__}"
            )


def functions(**named: object) -> None:
    """Every argument can be called."""
    for name, value in named.items():
        if not callable(value):
            raise TypeError(
                f"{name}: expected a function, got {type(value).__name__}"
            )


def texts(items: object, name: str = "texts") -> list[str]:
    """A collection of strings, but not one string, as a list."""
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise TypeError(
            f"{name}: expected a list of strings, got {type(items).__name__}"
        )
    items = list(items)
    for item in items:
        string(**{f"an item of {name}": item})
    return items


def ordinary_tokens(tokens: object, specials: tuple[str, ...]) -> set[str]:
    """The different tokens; none is empty or spelled like a special one."""
    tokens = set(texts(tokens, "tokens"))
    for token in ("", *specials):
        if token in tokens:
            raise ValueError(
                "tokens: expected none to be empty or one of "
                f"{', '.join(specials)}, got {token!r}"
            )
    return tokens


def sequences(rows: object) -> list[list[int]]:
    """At least one sequence of ids (lists or 1-D tensors), as lists."""
    if isinstance(rows, (str, Tensor)) or not isinstance(rows, Iterable):
        raise TypeError(
            f"sequences: expected a list of id lists, got "
            f"{type(rows).__name__}"
        )
    rows = [id_list(row, ANY_ID, "an item of sequences") for row in rows]
    if not rows:
        raise ValueError("sequences: expected at least one, got none")
    return rows


def are_operands(q: object, k: object) -> bool:
    """Whether `attention_operands` would find nothing to complain about."""
    return (
        isinstance(q, Tensor)
        and isinstance(k, Tensor)
        and q.is_floating_point()
        and q.dtype == k.dtype
        and q.ndim == k.ndim >= 2
        and q.shape[:-2] == k.shape[:-2]
        and q.shape[-1] == k.shape[-1] > 0
        and k.shape[-2] > 0
    )


def attention_operands(q: object, k: object) -> None:
    """Queries and keys fit together: dtype, leading axes and width."""
    if are_operands(q, k):
        return
    floating(q=q, k=k)
    rank_at_least(2, q=q, k=k)
    if q.shape[:-2] != k.shape[:-2]:
        raise ValueError(
            f"k: expected the leading axes {tuple(q.shape[:-2])} of q, got "
            f"{tuple(k.shape[:-2])}; nothing is broadcast"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"k: expected the width {q.shape[-1]} of q, got {k.shape[-1]}"
        )
    if q.shape[-1] == 0:
        raise ValueError("q: expected a width of at least 1, got 0")
    if k.shape[-2] == 0:
        raise ValueError("k: expected at least one key, got none")


def values(k: Tensor, v: object) -> None:
    """There is one value for each key."""
    floating(k=k, v=v)
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            f"v: expected one value for each key, {tuple(k.shape[:-1])}, got "
            f"{tuple(v.shape[:-1])}"
        )


def boolean(**named: object) -> None:
    """Every argument is a boolean tensor; its name says what True means."""
    tensors(**named)
    for name, tensor in named.items():
        if tensor.dtype != torch.bool:
            raise TypeError(
                f"{name}: expected a boolean tensor, {CONVENTION[name]}, got "
                f"{tensor.dtype}; {converter(tensor)}"
            )


def converter(mask: Tensor) -> str:
    """Which function of lib.masks a mask that is not boolean may need."""
    if mask.is_floating_point():
        return (
            "lib.masks.from_additive converts a mask of 0 and -inf, "
            "lib.masks.from_zero_one one of 0 and 1"
        )
    return "lib.masks.from_zero_one converts a mask of 0 and 1"


def floating_dtype(dtype: object) -> None:
    """A real floating-point dtype."""
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError(f"dtype: expected a floating-point dtype, got {dtype}")


def numeric(**named: object) -> None:
    """A tensor of numbers, not of truth values."""
    tensors(**named)
    for name, tensor in named.items():
        if tensor.dtype == torch.bool:
            raise TypeError(
                f"{name}: expected numbers 0 and 1, got {tensor.dtype}; a "
                "boolean mask is used as it is, or inverted with ~"
            )


def only(mask: Tensor, allowed: tuple) -> None:
    """Every entry of the mask is one of the two allowed values."""
    other = mask[(mask != allowed[0]) & (mask != allowed[1])]
    if other.numel():
        raise ValueError(
            f"mask: expected only {allowed[0]} and {allowed[1]}, got "
            f"{other.flatten()[0].item()}"
        )


def exact_rank(rank: int, **named: Tensor) -> None:
    """Every tensor has `rank` axes."""
    for name, tensor in named.items():
        if tensor.ndim != rank:
            raise ValueError(
                f"{name}: expected {rank} axes, got {tensor.ndim} "
                f"({shape(tensor)})"
            )


def id_batch(
    ids: object,
    name: str = "ids",
    most: int | None = None,
    vocab_size: int | None = None,
) -> None:
    """Token ids (batch, length); with `most`, of 1 to `most` positions."""
    token_ids(ids, vocab_size, name)
    exact_rank(2, **{name: ids})
    if most is not None and not 1 <= ids.shape[1] <= most:
        raise ValueError(
            f"{name}: expected 1 to {most} positions (max_length), got "
            f"{shape(ids)}"
        )


def key_count(lengths: object, max_length: object) -> int:
    """The number of keys for sentences of these lengths."""
    tensors(lengths=lengths)
    if lengths.dtype not in (torch.int32, torch.int64):
        raise TypeError(
            f"lengths: expected an integer tensor, got {lengths.dtype}"
        )
    exact_rank(1, lengths=lengths)
    if lengths.numel() == 0:
        raise ValueError("lengths: expected at least one sentence, got none")
    least, most = (bound.item() for bound in lengths.aminmax())
    if least < 0:
        raise ValueError(f"lengths: expected none below 0, got {least}")
    if max_length is None:
        return most
    integer("max_length", max_length, least=0)
    if most > max_length:
        raise ValueError(
            f"lengths: expected none beyond max_length={max_length}, got "
            f"{most}"
        )
    return max_length


def attn_mask(mask: object, heads: object) -> None:
    """(q_len, k_len) or (batch * heads, q_len, k_len), boolean."""
    boolean(mask=mask)
    positive(heads=heads)
    if mask.ndim not in (2, 3):
        raise ValueError(
            "mask: expected (q_len, k_len) or (batch * heads, q_len, k_len), "
            f"got {shape(mask)}"
        )
    if mask.ndim == 3 and mask.shape[0] % heads:
        raise ValueError(
            f"mask: expected a first axis of batch * {heads} heads, got "
            f"{mask.shape[0]}"
        )


def module_mask(may_attend: object, shape_wanted: tuple[int, ...]) -> None:
    """A mask of rank 4 that broadcasts to (batch, heads, q_len, k_len)."""
    if may_attend is None:
        return
    boolean(may_attend=may_attend)
    if may_attend.ndim != 4:
        raise ValueError(
            "may_attend: expected four axes (batch, heads, q_len, k_len), got "
            f"{shape(may_attend)}{rank_hint(may_attend)}"
        )
    for have, wanted in zip(may_attend.shape, shape_wanted, strict=True):
        if have not in (1, wanted):
            raise ValueError(
                "may_attend: expected a shape that broadcasts to (batch, "
                f"heads, q_len, k_len) = {shape_wanted}, got "
                f"{tuple(may_attend.shape)}"
            )


def rank_hint(mask: Tensor) -> str:
    """How a mask with fewer axes is meant."""
    return {
        2: "; if it is (batch, k_len) use mask[:, None, None], if it is "
        "(q_len, k_len) use mask[None, None]",
        3: "; if it is (batch, q_len, k_len) use mask[:, None], if it is "
        "(heads, q_len, k_len) use mask[None]",
    }.get(mask.ndim, "")


def some(mask: Tensor) -> bool:
    """Whether an entry is True; taken to be so while torch compiles.

    Then the values are not known, and the code must work either way.
    """
    return torch.compiler.is_compiling() or bool(mask.any())


def mask(may_attend: object, scores: Tensor) -> None:
    """A boolean mask, True = may attend, that broadcasts to the scores."""
    if may_attend is None:
        return
    boolean(may_attend=may_attend)
    sizes = zip(may_attend.shape[::-1], scores.shape[::-1], strict=False)
    if may_attend.ndim > scores.ndim or any(
        have not in (1, wanted) for have, wanted in sizes
    ):
        raise ValueError(
            "may_attend: expected a shape that broadcasts to the scores, "
            f"{tuple(scores.shape)}, got {tuple(may_attend.shape)}"
        )


def divisible(d_model: object, heads: object) -> None:
    """Positive integers, and d_model a multiple of heads."""
    positive(d_model=d_model, heads=heads)
    if d_model % heads:
        raise ValueError(
            f"d_model: expected a multiple of heads={heads}, got {d_model}"
        )


def even(name: str, value: object) -> None:
    """A positive even integer, because entries come in pairs."""
    integer(name, value, least=2)
    if value % 2:
        raise ValueError(f"{name}: expected an even number, got {value}")


def are_wide(tensors: Iterable, d_model: int, rank: int | None) -> bool:
    """Whether `width` would find nothing to complain about."""
    dtype = None
    for x in tensors:
        if not isinstance(x, Tensor) or not x.is_floating_point():
            return False
        if not x.ndim or x.shape[-1] != d_model or x.ndim != (rank or x.ndim):
            return False
        if dtype is not None and x.dtype != dtype:
            return False
        dtype = x.dtype
    return True


def width(d_model: int, rank: int | None = None, **named: object) -> None:
    """Floating-point tensors whose last axis is d_model."""
    if are_wide(named.values(), d_model, rank):
        return
    floating(**named)
    for name, tensor in named.items():
        if rank is not None and tensor.ndim != rank:
            raise ValueError(
                f"{name}: expected {rank} axes, (batch, length, d_model), "
                f"got {shape(tensor)}"
            )
        if tensor.ndim == 0 or tensor.shape[-1] != d_model:
            raise ValueError(
                f"{name}: expected a last axis of width {d_model}, got "
                f"{shape(tensor)}"
            )


def keeps_shape(sublayer: Callable, x: Tensor) -> Callable:
    """`sublayer`, but a result of another shape than x is an error."""

    def checked(given: Tensor) -> Tensor:
        result = sublayer(given)
        if not isinstance(result, Tensor):
            tensors(**{"the result of sublayer": result})
        if result.shape != x.shape:
            raise ValueError(
                f"the result of sublayer: expected {shape(x)}, as x has, got "
                f"{shape(result)}; nothing is broadcast"
            )
        return result

    return checked


def norm(x: object, weight: object, bias: object) -> None:
    """A gain and a bias for each entry of the last axis of x."""
    floating(x=x)
    floating(weight=weight, bias=bias)
    for name, row in (("weight", weight), ("bias", bias)):
        exact_rank(1, **{name: row})
        width(len(row), x=x)


def sources(query: object, key: object, value: object, d_model: int) -> None:
    """What attention reads: (batch, length, d_model), three times."""
    if key is query and value is query:
        width(d_model, 3, query=query)
    else:
        width(d_model, 3, query=query, key=key, value=value)
    if key.shape[0] != query.shape[0]:
        raise ValueError(
            f"key: expected the batch of the query, {query.shape[0]}, got "
            f"{key.shape[0]}; nothing is broadcast"
        )
    if value.shape[:2] != key.shape[:2]:
        raise ValueError(
            f"value: expected one for each key, {tuple(key.shape[:2])}, got "
            f"{tuple(value.shape[:2])}"
        )
    if key.shape[1] == 0:
        raise ValueError("key: expected at least one key, got none")


def memory(x: object, memory: object, d_model: int) -> None:
    """x and memory: (batch, length, d_model), of one batch and dtype."""
    width(d_model, 3, x=x, memory=memory)
    if memory.shape[0] != x.shape[0] or memory.shape[1] == 0:
        raise ValueError(
            f"memory: expected the batch of x, {x.shape[0]}, and at least one "
            f"position, got {shape(memory)}"
        )


def same_batch(source: object, target: object) -> None:
    """One target for each source; what else may be wrong is seen later."""
    tensors(source=source, target=target)
    if not source.ndim == target.ndim == 2:
        return
    if source.shape[0] != target.shape[0]:
        raise ValueError(
            f"target: expected the batch of the source, {source.shape[0]}, "
            f"got {target.shape[0]}; nothing is broadcast"
        )


def base(value: object) -> None:
    """A number above 1."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"base: expected a number, got {type(value).__name__}")
    if not 1 < value < math.inf:
        raise ValueError(f"base: expected a number above 1, got {value}")


def positions(x: object, offset: object, table: Tensor) -> None:
    """`table` has a row for each of the positions offset, offset + 1, ..."""
    width(table.shape[1], x=x)
    rank_at_least(2, x=x)
    integer("offset", offset, least=0)
    last, rows = offset + x.shape[-2], table.shape[0]
    if last > rows:
        raise ValueError(
            f"x: expected at most {rows} positions (max_length), got {last} "
            f"(offset {offset}, length {x.shape[-2]})"
        )


def turnable(x: object, offset: object) -> tuple[int, int]:
    """Length and width of queries or keys whose entries come in pairs."""
    floating(x=x)
    rank_at_least(2, x=x)
    integer("offset", offset, least=0)
    even("the width of x", x.shape[-1])
    return x.shape[-2], x.shape[-1]


def is_splittable(x: object, heads: object) -> bool:
    """Whether `splittable` would find nothing to complain about."""
    return (
        isinstance(x, Tensor)
        and x.is_floating_point()
        and x.ndim == 3
        and type(heads) is int
        and heads > 0
        and x.shape[-1] % heads == 0
    )


def mergeable(x: object) -> None:
    """(batch, heads, length, d_head)."""
    if isinstance(x, Tensor) and x.is_floating_point() and x.ndim == 4:
        return
    floating(x=x)
    exact_rank(4, x=x)


def splittable(x: object, heads: object) -> None:
    """(batch, length, d_model) with d_model a multiple of heads."""
    if is_splittable(x, heads):
        return  # the one line that a healthy forward pass spends time on
    floating(x=x)
    exact_rank(3, x=x)
    positive(heads=heads)
    if x.shape[-1] % heads:
        raise ValueError(
            f"x: expected a width that is a multiple of heads={heads}, got "
            f"{shape(x)}"
        )


def real(name: str, value: object, least: int | float) -> None:
    """A finite number that is not below `least`."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(
            f"{name}: expected a number, got {type(value).__name__}"
        )
    if not least <= value < math.inf:
        raise ValueError(
            f"{name}: expected a finite number of at least {least}, got "
            f"{value}"
        )


def choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """One of a few names."""
    if value not in allowed:
        raise ValueError(
            f"{name}: expected one of {', '.join(allowed)}, got {value!r}"
        )


def instance(kind: type, **named: object) -> None:
    """Every argument is of this class."""
    for name, value in named.items():
        if not isinstance(value, kind):
            raise TypeError(
                f"{name}: expected a {kind.__name__}, got "
                f"{type(value).__name__}"
            )


def blocks(items: object, kind: type, final_norm: object) -> tuple[list, int]:
    """At least one block, all of one class and width; and that width."""
    booleans(final_norm=final_norm)
    if not isinstance(items, Iterable):
        raise TypeError(
            f"blocks: expected a list of {kind.__name__}, got "
            f"{type(items).__name__}"
        )
    items = list(items)
    if not items:
        raise ValueError("blocks: expected at least one, got none")
    for block in items:
        instance(kind, **{"an item of blocks": block})
    widths = {block.feed_forward.widen.in_features for block in items}
    if len(widths) > 1:
        raise ValueError(f"blocks: expected one width, got {sorted(widths)}")
    return items, widths.pop()


def caches(cache: object, blocks: Sized) -> Iterable:
    """A pair of caches for each block; a pair of None without a cache."""
    if cache is None:
        return [(None, None)] * len(blocks)
    if not isinstance(cache, Iterable) or not hasattr(cache, "length"):
        raise TypeError(
            f"cache: expected a lib.cache.Cache, got {type(cache).__name__}"
        )
    pairs = list(cache)
    if len(pairs) != len(blocks):
        raise ValueError(
            f"cache: expected one of {len(blocks)} layers, as the decoder "
            f"has, got {len(pairs)}"
        )
    return pairs


def config(fields: object) -> None:
    """The fields of a `TransformerConfig` fit together."""
    sizes = ("source_vocab_size", "target_vocab_size", "d_ff", "max_length")
    layers = ("encoder_layers", "decoder_layers")
    positive(**{name: getattr(fields, name) for name in sizes + layers})
    divisible(fields.d_model, fields.heads)
    even("d_model", fields.d_model)
    probability("dropout", fields.dropout)
    booleans(norm_first=fields.norm_first)
    if fields.final_norms is not None:
        booleans(final_norms=fields.final_norms)
    choice("activation", fields.activation, ("relu", "gelu"))
    choice("tied", fields.tied, ("none", "target", "all"))
    special_ids(fields)
    source, target = fields.source_vocab_size, fields.target_vocab_size
    if fields.tied == "all" and source != target:
        raise ValueError(
            'tied: expected vocabularies of one size for "all", got '
            f"{source} and {target}"
        )


def special_ids(fields: object) -> None:
    """PAD is in both vocabularies, BOS and EOS in the target's."""
    vocab = min(fields.source_vocab_size, fields.target_vocab_size)
    for name in ("pad_id", "bos_id", "eos_id"):
        rows = vocab if name == "pad_id" else fields.target_vocab_size
        value = getattr(fields, name)
        integer(name, value, least=0)
        if value >= rows:
            raise ValueError(
                f"{name}: expected an id below {rows}, the size of the "
                f"vocabulary, got {value}"
            )
        if name != "pad_id" and value == fields.pad_id:
            raise ValueError(
                f"{name}: expected another id than pad_id={fields.pad_id}, "
                "because PAD is masked"
            )
    if fields.eos_id == fields.bos_id:
        raise ValueError(
            f"eos_id: expected another id than bos_id={fields.bos_id}, got "
            "the same"
        )


def between(name: str, value: object, least: int, most: int) -> None:
    """An integer from `least` to `most`."""
    integer(name, value)
    if not least <= value <= most:
        raise ValueError(f"{name}: expected {least} to {most}, got {value}")


def locale(language: object) -> None:
    """A language, or language and country, of which Babel has the names."""
    from babel import Locale, UnknownLocaleError

    string(language=language)
    try:
        Locale.parse(language)
    except (UnknownLocaleError, ValueError):
        raise ValueError(
            "language: expected one that Babel knows, such as 'en' or "
            f"'pt_BR', got {language!r}"
        ) from None


def plain_date(day: object, name: str = "day") -> None:
    """A date; a datetime says more and is refused."""
    if type(day) is not date:
        raise TypeError(
            f"{name}: expected a datetime.date, got {type(day).__name__}"
        )


def written(
    day: object, language: object, style: object, styles: tuple[str, ...]
) -> None:
    """A date, a language and one of its styles."""
    plain_date(day)
    locale(language)
    string(style=style)
    choice("style", style, styles)


def some_items(name: str, items: object, what: str) -> None:
    """A list (or tuple) that is not empty."""
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise TypeError(
            f"{name}: expected a list of {what}, got {type(items).__name__}"
        )
    if not items:
        raise ValueError(f"{name}: expected at least one, got none")


def to_generate(
    days: object, count: object, seed: object, languages: object
) -> int:
    """Dates and languages to draw from; and the number of examples."""
    some_items("days", days, "dates")
    some_items("languages", languages, "strings")
    for day in days:
        plain_date(day, "an item of days")
    for language in languages:
        locale(language)
    integer("seed", seed)
    return len(days) if count is None else whole("count", count)


def whole(name: str, value: object) -> int:
    """A positive integer, handed back."""
    positive(**{name: value})
    return value


def collatable(
    examples: object, kind: type, source: object, target: object
) -> None:
    """Examples, and a vocabulary for each side."""
    some_items("examples", examples, "examples")
    for example in examples:
        if not (hasattr(example, "text") and hasattr(example, "iso")):
            raise TypeError(
                "an item of examples: expected an Example, got "
                f"{type(example).__name__}"
            )
    instance(kind, source=source, target=target)


def to_compare(logits: object, target: object) -> None:
    """Logits (..., vocab) and one target id for each row of them."""
    floating(logits=logits)
    rank_at_least(1, logits=logits)
    token_ids(target, logits.shape[-1], "target")
    if logits.shape[:-1] != target.shape:
        raise ValueError(
            f"target: expected {shape(logits[..., 0])}, one id for each row "
            f"of logits, got {shape(target)}"
        )


def recipe(fields: object) -> None:
    """The fields of a `Recipe` are in their ranges."""
    functions(rate=fields.rate)
    probability("smoothing", fields.smoothing)
    probability("averaging", fields.averaging)
    if fields.clip != math.inf:
        real("clip", fields.clip, least=0)
    if fields.clip == 0:
        raise ValueError("clip: expected more than 0, got 0")
    integer("pad_id", fields.pad_id, least=0)


def finite(where: str, **named: Tensor) -> None:
    """Every argument is a finite number."""
    for name, tensor in named.items():
        if not math.isfinite(tensor.item()):
            raise FloatingPointError(
                f"{name}: expected a finite number, got {tensor.item()} at "
                f"{where}; the weights are those before this step"
            )


def rate(value: object, step: int) -> None:
    """The learning rate of a step: a finite number, not negative."""
    real(f"rate({step})", value, least=0)


def to_train(
    trainer: object, kind: type, batches: object, steps: object, every: object
) -> None:
    """A trainer, at least one batch and positive numbers."""
    instance(kind, trainer=trainer)
    some_items("batches", batches, "batches")
    positive(steps=steps, every=every)


def checkpoint(path: object) -> tuple[dict[str, Tensor], dict]:
    """The tensors of a checkpoint, and what its header says about them."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    content = Path(path).read_bytes()
    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        return tensors, json.loads(header["__metadata__"]["json"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(
            "checkpoint: expected a complete file from save_checkpoint, got "
            f"{len(content)} bytes that are none ({error}): {path}"
        ) from error


def not_behind(path: object, steps: int) -> None:
    """A checkpoint has at least as many steps as were done without it."""
    saved = len(checkpoint(path)[1]["losses"])
    if saved < steps:
        raise ValueError(
            f"checkpoint: expected at least the {steps} steps of the trainer, "
            f"got {saved}; load_checkpoint goes back, another file name does "
            "not"
        )


def same_training(trainer, parts: dict[str, dict], about: dict) -> None:
    """A checkpoint is of this model and this recipe."""
    for part in ("model", "average"):
        same_shapes(getattr(trainer, part).state_dict(), parts.get(part, {}))
    moments(trainer, parts.get("adam", {}), len(about["losses"]))
    wanted = trainer.recipe.numbers(len(about["losses"]))
    for name, value in wanted.items():
        if about["recipe"].get(name) != value:
            raise ValueError(
                f"checkpoint: expected {name}={value}, as in the recipe, got "
                f"{about['recipe'].get(name)}"
            )


def moments(trainer, saved: dict[str, Tensor], steps: int) -> None:
    """The two means of Adam have the shapes of the weights they belong to."""
    weights = dict(enumerate(trainer.model.parameters()))
    if steps and not saved:
        raise ValueError(
            f"checkpoint: expected the moments of Adam after {steps} steps, "
            "got none"
        )
    for key, tensor in saved.items():
        number, name = key.split(".")
        wanted = weights.get(int(number))
        if name != "step" and (wanted is None or wanted.shape != tensor.shape):
            raise ValueError(
                f"checkpoint: expected moments of {len(weights)} weights, as "
                f"in the model, got {shape(tensor)} for adam.{key}"
            )


def same_shapes(wanted: dict[str, Tensor], got: dict[str, Tensor]) -> None:
    """The weights of a checkpoint are those of the model."""
    for name in sorted(wanted.keys() | got.keys()):
        one, other = (
            f"{weights[name].dtype}, {shape(weights[name])}"
            if name in weights
            else "nothing"
            for weights in (wanted, got)
        )
        if one != other:
            raise ValueError(
                f"checkpoint: expected {one} for {name}, as in the model, "
                f"got {other}"
            )


def new_positions(target: Tensor, pad_id: int, past: Tensor | None) -> None:
    """The next tokens of the rows that a cache knows, none of them PAD.

    A cache does not remember which positions are PAD. Its buffer `past` has
    the rows on its second axis.
    """
    if (target == pad_id).any():
        raise ValueError(
            f"target: expected no PAD (id {pad_id}) together with a cache, "
            f"got {int((target == pad_id).sum())}"
        )
    if past is not None and target.shape[0] != past.shape[1]:
        raise ValueError(
            f"target: expected {past.shape[1]} rows, as the cache holds, "
            f"got {target.shape[0]}; a new batch needs a new cache"
        )


def to_write(
    model: object, kind: type, source: object, cached: object
) -> None:
    """A model and a batch of sources."""
    instance(kind, model=model)
    id_batch(source, "source", model.config.max_length)
    booleans(cached=cached)


def chosen(tokens: object, rows: int) -> None:
    """What `choose` gave: one token id for each row."""
    what = type(tokens).__name__
    if isinstance(tokens, Tensor):
        what = f"{tokens.dtype}, {shape(tokens)}"
        whole = tokens.dtype in (torch.int32, torch.int64)
        if whole and tokens.shape == (rows,):
            return
    raise ValueError(
        f"choose: expected one integer id for each of {rows} rows, got {what}"
    )


def no_nan(**named: Tensor) -> None:
    """No entry is NaN; weights may be damaged."""
    for name, tensor in named.items():
        if tensor.isnan().any():
            raise ValueError(
                f"{name}: expected numbers, got NaN; a weight of the model "
                "may be NaN"
            )


def limit(limit: object, model: object, kind: type) -> int:
    """The number of tokens to write; each but the last needs a position."""
    instance(kind, model=model)
    most = model.config.max_length
    if limit is None:
        return most
    between("limit", limit, 1, most)
    return limit


def to_narrow(
    logits: object, temperature: object, top_k: object, top_p: object
) -> None:
    """Logits, and three numbers that narrow them."""
    floating(logits=logits)
    rank_at_least(1, logits=logits)
    real("temperature", temperature, least=0)
    if temperature == 0:
        raise ValueError(
            "temperature: expected more than 0, got 0; lib.decoding.greedy "
            "is the limit"
        )
    if top_k is not None:
        positive(top_k=top_k)
    if top_p is not None:
        real("top_p", top_p, least=0)
        if not 0 < top_p <= 1:
            raise ValueError(f"top_p: expected 0 < top_p <= 1, got {top_p}")


def generator(value: object) -> None:
    """None, or a generator of the CPU."""
    if value is None:
        return
    instance(torch.Generator, generator=value)
    if value.device.type != "cpu":
        raise ValueError(
            "generator: expected one of the CPU, so that every device draws "
            f"the same, got {value.device}"
        )


def stack(items: object, kind: type, final_norm: object) -> None:
    """At least one block in a list, all of one class and width."""
    booleans(final_norm=final_norm)
    if not isinstance(items, Iterable) or not isinstance(items, Sized):
        raise TypeError(
            f"blocks: expected a list of {kind.__name__}, got "
            f"{type(items).__name__}"
        )
    if not len(items):
        raise ValueError("blocks: expected at least one, got none")
    for block in items:
        instance(kind, **{"an item of blocks": block})
    widths = {block.feed_forward.widen.in_features for block in items}
    if len(widths) > 1:
        raise ValueError(f"blocks: expected one width, got {sorted(widths)}")


def to_attend(q: object, k: object, v: object, may_attend: object) -> None:
    """Queries, keys and values of several heads, and a mask for them."""
    attention_operands(q, k)
    exact_rank(4, q=q)
    values(k, v)
    module_mask(may_attend, (*q.shape[:3], k.shape[2]))


def new_ids(target: object, rows: int, config: object) -> None:
    """The next tokens of the rows of a memory, none of them PAD."""
    ids_of("target", target, config)
    if len(target) != rows:
        raise ValueError(
            f"target: expected {rows} rows, as the memory has, got "
            f"{len(target)}; a new batch needs a new decoder"
        )
    if (target == config.pad_id).any():
        raise ValueError(
            f"target: expected no PAD (id {config.pad_id}), which is not "
            f"remembered, got {int((target == config.pad_id).sum())}"
        )


def writable(tokens: object, rows: int, config: object) -> None:
    """What `choose` gave: for each row one id that may be written."""
    chosen(tokens, rows)
    never = (tokens == config.pad_id) | (tokens == config.bos_id)
    wrong = never | (tokens < 0) | (tokens >= config.target_vocab_size)
    if wrong.any():
        raise ValueError(
            f"choose: expected ids from 0 to {config.target_vocab_size - 1} "
            f"without PAD ({config.pad_id}) and BOS ({config.bos_id}), got "
            f"{tokens[wrong][0].item()}"
        )


def to_decode(
    model: object, kind: type, limit: object, cached: object
) -> None:
    """A model, the number of tokens to write, and a switch."""
    instance(kind, model=model)
    if limit is not None:
        between("limit", limit, 1, model.config.max_length)
    booleans(cached=cached)


def enough_steps(saved: int, done: int) -> None:
    """A checkpoint has at least as many steps as were done without it."""
    if saved < done:
        raise ValueError(
            f"checkpoint: expected at least the {done} steps of the trainer, "
            f"got {saved}; load_checkpoint goes back, another file name does "
            "not"
        )


def ids_of(side: str, ids: object, config: object) -> None:
    """Token ids of the source or the target, not too long."""
    vocab_size = getattr(config, f"{side}_vocab_size")
    id_batch(ids, side, config.max_length, vocab_size)


def search(width: object, length_penalty: object) -> None:
    """The two numbers of a beam search."""
    positive(width=width)
    real("length_penalty", length_penalty, least=0)
