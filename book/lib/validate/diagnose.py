"""How a reader says that an attention wants to be called."""

from .. import validate
from .refuse import expect, wrong_kind

LAYOUTS = ("n l d", "l n d", "n h l d", "n l h d", "l d", "h l d", "l h d")
MERGED = ("n l (h d)", "l n (h d)", "l (h d)")
MASKS = (
    *("keep", "ignore", "ones", "float ones", "additive"),
    *("additive min", "causal", "none"),
)


def convention(c) -> None:
    """Every word of a `Convention` is a known one."""
    validate.string(call=c.call, axes=c.axes)
    validate.positive(width=c.width, heads=c.heads, length=c.length)
    validate.booleans(positions=c.positions)
    validate.choice("mask", c.mask, MASKS)
    called(c.call)
    laid_out(c.axes)
    if c.mask_axes is not None:
        validate.string(mask_axes=c.mask_axes)
        _mask_axes(c.mask_axes)
    validate.multiple("width", c.width, c.heads, f"{c.heads} heads")
    expect(c.length > 3, "length", "at least 4", c.length)
    has_mask, is_inside = "mask" in c.call, c.mask in ("causal", "none")
    expected = "'keep', 'ignore', ... where `call` has a mask"
    if not has_mask:
        expected = "'none' or 'causal' where `call` has no mask"
    expect(has_mask != is_inside, "mask", expected, repr(c.mask))


def called(call: str) -> None:
    """Such as `q k v mask -> out weights`."""
    left, arrow, right = call.partition("->")
    inputs = [item.rpartition("=")[2] for item in left.split()]
    wanted = ({"x"}, {"q", "k", "v"})
    gives = set(right.split())
    fine = set(inputs) - {"mask"} in wanted and len({*inputs}) == len(inputs)
    fine = fine and "out" in gives and gives <= {"out", "weights", "_"}
    expected = "a pattern such as 'q k v mask -> out' or 'x -> out weights'"
    expect(fine, "call", expected, repr(call))


def laid_out(axes: str) -> None:
    """Such as `n l d`, or `n h l d -> n l h d`."""
    left, arrow, right = (part.strip() for part in axes.partition("->"))
    fine = left in LAYOUTS and (not arrow or right in (*LAYOUTS, *MERGED))
    expect(fine, "axes", f"one of {', '.join(LAYOUTS)}", repr(axes))


def _mask_axes(axes: str) -> None:
    """Such as `n 1 q k`: each axis at most once, and that of the keys."""
    names = axes.replace("(", "").replace(")", "").split()
    letters = [name for name in names if name != "1"]
    fine = "k" in letters and len(set(letters)) == len(letters)
    fine = fine and set(letters) <= set("nhqk")
    expect(fine, "mask_axes", "such as 'n 1 q k' or 'n k'", repr(axes))


def options(given: dict, wanted: type) -> None:
    """Every option is a field of the convention."""
    known = [name for name in wanted.__dataclass_fields__ if name != "call"]
    for name in given:
        expected = f"one of {', '.join(known)}"
        if name not in known:
            wrong_kind("an option", expected, repr(name))
