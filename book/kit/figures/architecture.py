"""The whole model as one drawing, with the shapes of a real forward pass.

Not taught. Boxes are links to the chapters. A notebook and the website show
the drawing as it is; a terminal shows its list of boxes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from kit.shapes import Step, in_words
from lib.transformer import TransformerConfig

from .colours import FAINT, INK, OUTPUT, PLATE, QUERY, QUIET, ROLE

WIDTH, COLUMN, LINE, ENTRY, GAP = 360, 144, 12.5, 27, 14
FITS = 22  # characters of the widest usual typeface in one line of a box
LEFT = {"source": 12, "target": 204}
OUT = {"source": (12, 6), "target": (348, 354)}  # box edge, residual path
TITLE = "The Transformer: encoder on the left, decoder on the right"
TEXT = (
    "From bottom to top. Source ids go through embedding, positions and the "
    "encoder blocks and become the memory. Target ids go through embedding, "
    "positions and the decoder blocks, whose cross-attention takes keys and "
    "values from the memory, and the output matrix makes logits of them. "
    "Every attention and feed-forward network is bypassed by a residual path. "
    "Each box leads to the chapter whose number it bears."
)
BLOCKS = {"source": ("encoder", 8), "target": ("decoder", 9)}
# The chapters lie beside the library, or above both where a student has them.
PAGES = {  # of each chapter, by its number
    int(path.stem[:2]): path.name
    for folder in Path(__file__).parents[3:1:-1]
    for path in folder.glob("[0-9][0-9]_*.ipynb")
}
ATTENTION = ("mask", "Q, split", "K, split", "V, split", "weights")
MASKS = {
    "self-attention": "padding mask",
    "causal attention": "causal & padding mask",
    "cross-attention": "memory mask",
}
JOIN = ("add & norm", 7, "", ())
NETWORK = ("feed-forward", 7, "feed-forward", ("hidden", "output"))
# From bottom to top: name, chapter, stage of the trace, tensors of the stage.
COLUMNS = {
    "source": (
        ("source ids", 1, "source", ("ids",)),
        ("embedding", 1, "source", ("embedding",)),
        ("+ positions", 6, "source", ("with positions",)),
        ("self-attention", 5, "self-attention", ATTENTION),
        JOIN,
        NETWORK,
        JOIN,
        ("memory", 8, "encoder", ("memory",)),
    ),
    "target": (
        ("target ids", 1, "target", ("ids",)),
        ("embedding", 1, "target", ("embedding",)),
        ("+ positions", 6, "target", ("with positions",)),
        ("causal attention", 4, "causal attention", ATTENTION),
        JOIN,
        ("cross-attention", 9, "cross-attention", ATTENTION),
        JOIN,
        NETWORK,
        JOIN,
        ("output matrix", 10, "output", ("logits",)),
    ),
}
Point = tuple[int | float, int | float]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """A rectangle: what it is, who explains it, and the shapes in it."""

    name: str
    chapter: int
    shapes: dict[str, Shape]

    @property
    def entries(self) -> list[tuple[list[str], Shape]]:
        """Label and sizes, and the shape; a long label has its own line.

        Neighbours of the same shape share an entry.
        """
        groups = groupby(self.shapes, key=self.shapes.get)
        labels = [(f"{', '.join(names)}: ", shape) for shape, names in groups]
        entries = []
        for label, shape in labels:
            sizes = " × ".join(map(str, shape))
            parts = [label, sizes] if len(labels) > 1 else [sizes]
            fits = len("".join(parts)) <= FITS
            entries.append((["".join(parts)] if fits else parts, shape))
        return entries

    @property
    def height(self) -> float:
        extra = [ENTRY + LINE * (len(parts) - 1) for parts, _ in self.entries]
        return LINE + 8 + sum(extra)


@dataclass(frozen=True)
class Architecture:
    """What `architecture` returns.

    `boxes` maps "source" and "target" to the boxes of a column, from bottom
    to top; `shapes` is the set of all shapes written on them.
    """

    boxes: dict[str, list[Box]]
    layers: dict[str, int]
    names: dict[int, str]

    @property
    def shapes(self) -> set[Shape]:
        columns = self.boxes.values()
        return {s for c in columns for box in c for s in box.shapes.values()}

    def __repr__(self) -> str:
        return "\n".join(
            f"{side}: {' > '.join(box.name for box in column)}"
            for side, column in self.boxes.items()
        )

    def _repr_html_(self) -> str:
        return "\n".join(_drawing(self))


def architecture(
    config: TransformerConfig, steps: list[Step], names: dict[int, str]
) -> Architecture:
    """Encoder and decoder side by side, with the shapes of a trace.

    Args:
        config: of the traced model; for the number of layers.
        steps: from `kit.shapes.trace`.
        names: from `kit.shapes.words`.

    Raises:
        ValueError: the model is pre-norm, which is another drawing.
    """
    if config.norm_first:
        raise ValueError("config: expected norm_first=False, got True")
    turn = [step.where for step in steps].index("target")
    sides = {"source": steps[:turn], "target": steps[turn:]}
    boxes = {
        side: [_box_of(sides[side], *row) for row in rows]
        for side, rows in COLUMNS.items()
    }
    layers = {"source": config.encoder_layers, "target": config.decoder_layers}
    return Architecture(boxes, layers, names)


def _box_of(steps, name, chapter, where, tensors) -> Box:
    """A box with the shapes of some tensors of a stage."""
    by_tensor = {(step.where, step.tensor): step.shape for step in steps}
    shapes = {}
    for tensor in tensors:
        label = MASKS[where] if tensor == "mask" else tensor
        shapes[label.removesuffix(", split")] = by_tensor[where, tensor]
    return Box(name, chapter, shapes)


def _drawing(drawn: Architecture) -> Iterator[str]:
    """The lines of the SVG."""
    tops = {side: _tops(column) for side, column in drawn.boxes.items()}
    height = -min(min(column) for column in tops.values()) + 16
    yield (
        f'<svg class="architecture" viewBox="-4 {8 - height:g} {WIDTH + 8} '
        f'{height:g}" width="100%" role="group" font-family="Helvetica, Arial,'
        ' sans-serif" font-size="10.5" text-anchor="middle" style="background:'
        f'#fff;color:{INK};max-width:30rem;display:block;margin:auto">'
    )
    yield f"<title>{TITLE}</title><desc>{TEXT}</desc>"
    for side, column in drawn.boxes.items():
        yield from _stack(side, column, tops[side], drawn.layers[side])
        for box, top in zip(column, tops[side], strict=True):
            yield from _box(box, LEFT[side], top, drawn.names)
    yield from _memory(drawn, tops)
    yield "</svg>"


def _tops(column: list[Box]) -> list[float]:
    """The upper edge of each box; y grows downward, the first ends at 0."""
    tops, y, joins = [], 0.0, _joins(column)
    for i, box in enumerate(column):
        tops.append(y - box.height)
        y -= box.height + GAP
        y -= 10 * (i == min(joins) - 2)  # room for the edge of the frame
        y -= 12 * (i == max(joins))  # and for its name
    return tops


def _joins(column: list[Box]) -> list[int]:
    return [i for i, box in enumerate(column) if box.name == JOIN[0]]


def _arrow(*points: Point, colour: str = FAINT) -> str:
    """A line from point to point, the last stretch with a tip."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    (x0, y0), (x, y) = points[-2:]
    dx, dy = 5 * ((x > x0) - (x < x0)), 5 * ((y > y0) - (y < y0))
    corners = [(x, y)]
    corners += [(x - dx + s * dy / 2, y - dy + s * dx / 2) for s in (1, -1)]
    tip = " ".join(f"{x:g},{y:g}" for x, y in corners)
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}"/>'
        f'<polygon points="{tip}" fill="{colour}"/>'
    )


def _text(x, y, *lines: str, more: str = "", colour: str = INK) -> str:
    """One text; each line after the first stands below the one before."""
    first, *others = map(escape, lines)
    rest = (f'<tspan x="{x:g}" dy="{LINE}">{t}</tspan>' for t in others)
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{colour}"{more}>{first}'
        f"{''.join(rest)}</text>"
    )


def _stack(
    side: str, column: list[Box], tops: list[float], layers: int
) -> Iterator[str]:
    """The frame of the block, and the arrows from box to box."""
    middle, (edge, out) = LEFT[side] + COLUMN / 2, OUT[side]
    first, last = min(_joins(column)) - 1, max(_joins(column))
    top = tops[last] - 6
    bottom = tops[first] + column[first].height + 15
    yield (
        f'<rect x="{LEFT[side] - 10}" y="{top:g}" width="{COLUMN + 20}" '
        f'height="{bottom - top:g}" rx="5" fill="none" stroke="{FAINT}" '
        'stroke-dasharray="3 2"/>'
    )
    name, chapter = BLOCKS[side]
    right = LEFT[side] + COLUMN + 10
    yield f'<a href="{PAGES.get(chapter, "")}">'
    yield _text(
        right, top - 4, f"{name} × {layers}", more=' text-anchor="end"'
    )
    yield "</a>"
    for i, box in enumerate(column[1:], start=1):
        yield _arrow((middle, tops[i - 1]), (middle, tops[i] + box.height))
        if box.name == JOIN[0]:
            start = tops[i - 1] + column[i - 1].height + 8
            at = tops[i] + box.height / 2
            yield _arrow((middle, start), (out, start), (out, at), (edge, at))


def _box(
    box: Box, left: int | float, top: int | float, names: dict[int, str]
) -> Iterator[str]:
    """A link to a chapter: name, each shape in numbers and words, number."""
    yield f'<a href="{PAGES.get(box.chapter, "")}">'
    colour = f'{PLATE}"'
    if box.name == "memory" or "attention" in box.name:
        colour = OUTPUT if box.name == "memory" else QUERY
        colour = f'{colour}" fill-opacity="0.2"'
    yield (
        f'<rect x="{left}" y="{top:g}" width="{COLUMN}" '
        f'height="{box.height:g}" rx="3" fill="{colour}/>'
    )
    x, y = left + COLUMN / 2, top + LINE + 1
    yield _text(x, y, box.name, more=' font-weight="bold" font-size="11.5"')
    for parts, shape in box.entries:
        yield _text(x, y + LINE + 1, *parts)
        y += LINE * (len(parts) - 1)
        yield _text(x, y + 2 * LINE, in_words(shape, names), colour=QUIET)
        y += ENTRY
    at, small = (left + COLUMN - 5, top + LINE), ' text-anchor="end"'
    yield _text(*at, str(box.chapter), more=small, colour=QUIET)
    yield "</a>"


def _memory(drawn: Architecture, tops: dict) -> Iterator[str]:
    """From the memory to the cross-attention, as keys and as values."""
    column = drawn.boxes["target"]
    cross = [box.name for box in column].index("cross-attention")
    start = tops["source"][-1] + drawn.boxes["source"][-1].height / 2
    end = tops["target"][cross] + column[cross].height / 2
    bold = (
        ' font-weight="bold" paint-order="stroke" stroke="#fff" '
        'stroke-width="3"'
    )
    first, last = LEFT["source"] + COLUMN, LEFT["target"]
    for letter, x, away in (("K", 172, 7), ("V", 186, -7)):
        low, high = start + away, end + away
        corners = (first, low), (x, low), (x, high), (last, high)
        yield _arrow(*corners, colour=ROLE[letter])
        yield _text(x, (start + 2 * end) / 3, letter, more=bold)
