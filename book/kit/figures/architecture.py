"""The whole model as one drawing, with the shapes of a real forward pass.

Not taught. Boxes are links to the chapters. A notebook and the website show
the drawing as it is; a terminal shows its list of boxes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path

from kit.figures import FAINT, INK, KEY, OUTPUT, PLATE, QUERY, VALUE
from kit.shapes import Step, in_words
from lib.transformer import TransformerConfig

WIDTH, COLUMN, LINE, ENTRY, GAP = 360, 144, 12.5, 27, 14
FITS = 22  # characters of the widest usual typeface in one line of a box
QUIET = "#4D4D4D"
LEFT = {"source": 12, "target": 204}
OUT = {"source": (12, 6), "target": (348, 354)}  # box edge, residual path
MASKS = {
    "self-attention": "padding mask",
    "causal attention": "causal & padding mask",
    "cross-attention": "memory mask",
}
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
Point = tuple[int | float, int | float]


@dataclass(frozen=True)
class Box:
    """A rectangle: what it is, the shapes in it, and who explains it."""

    name: str
    chapter: int
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    colour: str = PLATE

    @property
    def entries(self) -> list[tuple[str, tuple[int, ...]]]:
        """Label and shape; neighbours of the same shape share an entry."""
        groups = groupby(self.shapes.items(), key=lambda item: item[1])
        return [(", ".join(n for n, _ in g), shape) for shape, g in groups]

    @property
    def lines(self) -> list[list[str]]:
        """Each entry's label and sizes: one line, or two if it is long."""
        lines = []
        for label, shape in self.entries:
            sizes = " × ".join(map(str, shape))
            labels = [f"{label}: "] * (len(self.entries) > 1)
            parts = [*labels, sizes]
            fits = len("".join(parts)) <= FITS
            lines.append(["".join(parts)] if fits else parts)
        return lines

    @property
    def height(self) -> float:
        extra = sum(len(parts) - 1 for parts in self.lines)
        return LINE + 8 + ENTRY * len(self.entries) + LINE * extra


class Architecture:
    """What `architecture` returns.

    `boxes` maps "source" and "target" to the boxes of a column, from bottom
    to top; `shapes` is the set of all shapes written on them.
    """

    def __init__(
        self,
        boxes: dict[str, list[Box]],
        layers: dict[str, int],
        names: dict[int, str],
    ):
        self.boxes, self.layers, self.names = boxes, layers, names

    @property
    def shapes(self) -> set[tuple[int, ...]]:
        columns = self.boxes.values()
        return {s for c in columns for box in c for s in box.shapes.values()}

    def __repr__(self) -> str:
        lines = []
        for side, column in self.boxes.items():
            names = " > ".join(box.name for box in column)
            lines.append(f"{side}: {names}")
        return "\n".join(lines)

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
        ValueError: the model is pre-norm, which is another drawing, or a step
            that the drawing needs is missing.
    """
    if config.norm_first:
        raise ValueError("config: expected norm_first=False, got True")
    stages = [step.where for step in steps]
    if "target" not in stages:
        raise ValueError("steps: expected a stage named target, got none")
    turn = stages.index("target")
    source, target = _Stages(steps[:turn]), _Stages(steps[turn:])
    boxes = {
        "source": [
            *_entrance(source, "source"),
            _attention(source, "self-attention", 5),
            JOIN,
            _network(source),
            JOIN,
            source.box("memory", 8, "encoder", ("memory",), OUTPUT),
        ],
        "target": [
            *_entrance(target, "target"),
            _attention(target, "causal attention", 4),
            JOIN,
            _attention(target, "cross-attention", 9),
            JOIN,
            _network(target),
            JOIN,
            target.box("output matrix", 10, "output", ("logits",)),
        ],
    }
    layers = {"source": config.encoder_layers, "target": config.decoder_layers}
    return Architecture(boxes, layers, names)


class _Stages:
    """The steps of one side, to be asked by stage and tensor."""

    def __init__(self, steps: list[Step]):
        self.found = {(step.where, step.tensor): step.shape for step in steps}

    def box(self, name, chapter, where, tensors, colour=PLATE) -> Box:
        missing = [t for t in tensors if (where, t) not in self.found]
        if missing:
            raise ValueError(
                f"steps: expected {where}: {missing[0]}, got {len(self.found)}"
                " steps without it"
            )
        shapes = {
            MASKS[where] if t == "mask" else t.removesuffix(", split"): (
                self.found[where, t]
            )
            for t in tensors
        }
        return Box(name, chapter, shapes, colour)


def _entrance(stages: _Stages, side: str) -> list[Box]:
    return [
        stages.box(f"{side} ids", 1, side, ("ids",)),
        stages.box("embedding", 1, side, ("embedding",)),
        stages.box("+ positions", 6, side, ("with positions",)),
    ]


def _attention(stages: _Stages, name: str, chapter: int) -> Box:
    tensors = ("mask", "Q, split", "K, split", "V, split", "weights")
    return stages.box(name, chapter, name, tensors, QUERY)


def _network(stages: _Stages) -> Box:
    tensors = ("hidden", "output")
    return stages.box("feed-forward", 7, "feed-forward", tensors)


JOIN = Box("add & norm", 7)


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
    return [i for i, box in enumerate(column) if box is JOIN]


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
        if box is JOIN:
            start = tops[i - 1] + column[i - 1].height + 8
            at = tops[i] + box.height / 2
            yield _arrow((middle, start), (out, start), (out, at), (edge, at))


def _box(
    box: Box, left: int | float, top: int | float, names: dict[int, str]
) -> Iterator[str]:
    """A link to a chapter: name, each shape in numbers and words, number."""
    yield f'<a href="{PAGES.get(box.chapter, "")}">'
    tint = "" if box.colour == PLATE else ' fill-opacity="0.2"'
    yield (
        f'<rect x="{left}" y="{top:g}" width="{COLUMN}" '
        f'height="{box.height:g}" rx="3" fill="{box.colour}"{tint}/>'
    )
    x, y = left + COLUMN / 2, top + LINE + 1
    yield _text(x, y, box.name, more=' font-weight="bold" font-size="11.5"')
    for (_, shape), parts in zip(box.entries, box.lines, strict=True):
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
    cross = next(
        i for i, box in enumerate(column) if box.name == "cross-attention"
    )
    start = tops["source"][-1] + drawn.boxes["source"][-1].height / 2
    end = tops["target"][cross] + column[cross].height / 2
    bold = (
        ' font-weight="bold" paint-order="stroke" stroke="#fff" '
        'stroke-width="3"'
    )
    for letter, colour, x, away in (("K", KEY, 172, 7), ("V", VALUE, 186, -7)):
        yield _arrow(
            (LEFT["source"] + COLUMN, start + away),
            (x, start + away),
            (x, end + away),
            (LEFT["target"], end + away),
            colour=colour,
        )
        yield _text(x, (start + 2 * end) / 3, letter, more=bold)
