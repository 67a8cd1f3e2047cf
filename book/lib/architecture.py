"""The whole model as one drawing, with the shapes of a real forward pass.

Not taught. Boxes are links to the chapters. A notebook and the website show
the drawing as it is; a terminal shows its list of boxes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

from lib.figures import FAINT, INK, OUTPUT, PLATE, QUERY
from lib.shapes import Step, in_words
from lib.transformer import TransformerConfig

WIDTH, COLUMN, LINE, GAP = 350, 150, 12.5, 13
LEFT = {"source": 8, "target": 192}
BLOCKS = {
    "source": ("encoder block", "08_encoder"),
    "target": ("decoder block", "09_decoder"),
}


@dataclass(frozen=True)
class Box:
    """A rectangle: what it is, the shapes in it, and who explains it."""

    name: str
    chapter: str
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    colour: str = PLATE

    @property
    def height(self) -> float:
        return LINE * (1 + 2 * len(self.shapes)) + 8


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
        steps: from `lib.shapes.trace`.
        names: from `lib.shapes.words`.

    Raises:
        ValueError: the model is pre-norm, which is another drawing, or a step
            that the drawing needs is missing.
    """
    if config.norm_first:
        raise ValueError("config: expected norm_first=False, got True")
    turn = [step.where for step in steps].index("target")
    source, target = _Stages(steps[:turn]), _Stages(steps[turn:])
    boxes = {
        "source": [
            *_entrance(source, "source"),
            _attention(source, "self-attention", "05_heads"),
            JOIN,
            _network(source),
            JOIN,
            source.box("memory", "08_encoder", "encoder", ("memory",), OUTPUT),
        ],
        "target": [
            *_entrance(target, "target"),
            _attention(target, "causal attention", "04_masks"),
            JOIN,
            _attention(target, "cross-attention", "09_decoder"),
            JOIN,
            _network(target),
            JOIN,
            target.box(
                "output matrix", "10_transformer", "output", ("logits",)
            ),
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
        shapes = {t: self.found[where, t] for t in tensors}
        return Box(name, chapter, shapes, colour)


def _entrance(stages: _Stages, side: str) -> list[Box]:
    return [
        stages.box(f"{side} ids", "01_tokens_and_embeddings", side, ("ids",)),
        stages.box(
            "embedding", "01_tokens_and_embeddings", side, ("embedding",)
        ),
        stages.box("+ positions", "06_positions", side, ("with positions",)),
    ]


def _attention(stages: _Stages, name: str, chapter: str) -> Box:
    tensors = ("Q, split", "K, split", "weights")
    if name != "cross-attention":
        tensors = ("mask", "Q, split", "weights")
    return stages.box(name, chapter, name, tensors, QUERY)


def _network(stages: _Stages) -> Box:
    tensors = ("hidden", "output")
    return stages.box("feed-forward", "07_layers", "feed-forward", tensors)


JOIN = Box("add & norm", "07_layers")


def _drawing(drawn: Architecture) -> Iterator[str]:
    """The lines of the SVG."""
    tops = {side: _tops(column) for side, column in drawn.boxes.items()}
    height = -min(min(column) for column in tops.values()) + 16
    yield (
        f'<svg class="architecture" viewBox="0 {8 - height:g} {WIDTH} '
        f'{height:g}" width="100%" role="group" aria-labelledby="arch-title" '
        'font-family="sans-serif" font-size="10" text-anchor="middle" '
        'style="background:#fff;max-width:34em;display:block;margin:auto">'
    )
    yield (
        '<title id="arch-title">The Transformer: encoder on the left, decoder '
        "on the right; each box leads to its chapter</title>"
    )
    yield (
        '<defs><marker id="arch-tip" viewBox="0 0 6 6" refX="5" refY="3" '
        f'markerWidth="6" markerHeight="6" orient="auto"><path fill="{FAINT}" '
        'd="M0 0 6 3 0 6z"/></marker></defs>'
    )
    for side, column in drawn.boxes.items():
        yield from _stack(side, column, tops[side], drawn.layers[side])
        for box, top in zip(column, tops[side], strict=True):
            yield from _box(box, LEFT[side], top, drawn.names)
    yield from _memory(drawn, tops)
    yield "</svg>"


def _tops(column: list[Box]) -> list[float]:
    """The upper edge of each box; y grows downward, the first ends at 0."""
    tops, y, stacked = [], 0.0, max(_joins(column))
    for i, box in enumerate(column):
        tops.append(y - box.height)
        y -= box.height + GAP + 10 * (i == stacked)  # room for the name
    return tops


def _joins(column: list[Box]) -> list[int]:
    return [i for i, box in enumerate(column) if box is JOIN]


def _line(*points: tuple[float, float], colour: str = FAINT) -> str:
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" '
        'marker-end="url(#arch-tip)"/>'
    )


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{INK}"{more}>{escape(text)}</text>'
    )


def _stack(
    side: str, column: list[Box], tops: list[float], layers: int
) -> Iterator[str]:
    """The frame of the block, and the arrows from box to box."""
    middle = LEFT[side] + COLUMN / 2
    first, last = min(_joins(column)) - 1, max(_joins(column))
    top = tops[last] - 5
    bottom = tops[first] + column[first].height + GAP - 3
    yield (
        f'<rect x="{LEFT[side] - 7}" y="{top:g}" width="{COLUMN + 14}" '
        f'height="{bottom - top:g}" rx="5" fill="none" stroke="{FAINT}" '
        'stroke-dasharray="3 2"/>'
    )
    name, chapter = BLOCKS[side]
    note = ' text-anchor="end" font-size="9"'
    right = LEFT[side] + COLUMN + 7
    yield f'<a href="{chapter}.ipynb">'
    yield _text(right, top - 4, f"{name} × {layers}", note) + "</a>"
    for i, box in enumerate(column[1:], start=1):
        below = tops[i - 1]
        yield _line((middle, below), (middle, tops[i] + box.height))
        if box is JOIN:
            edge = LEFT[side] + COLUMN if side == "target" else LEFT[side]
            out = edge + (4 if side == "target" else -4)
            start = tops[i - 1] + column[i - 1].height + 6
            at = tops[i] + box.height / 2
            yield _line((middle, start), (out, start), (out, at), (edge, at))


def _box(
    box: Box, left: float, top: float, names: dict[int, str]
) -> Iterator[str]:
    """A link to a chapter: the name, then each shape in words and numbers."""
    yield f'<a href="{box.chapter}.ipynb">'
    tint = "" if box.colour == PLATE else ' fill-opacity="0.2"'
    yield (
        f'<rect x="{left}" y="{top:g}" width="{COLUMN}" '
        f'height="{box.height:g}" rx="3" fill="{box.colour}"{tint}/>'
    )
    x, y = left + COLUMN / 2, top + LINE
    yield _text(x, y, box.name, ' font-weight="bold" font-size="11"')
    for tensor, shape in box.shapes.items():
        label = (
            f"{tensor.removesuffix(', split')}: "
            if len(box.shapes) > 1
            else ""
        )
        yield _text(x, y + LINE, label + in_words(shape, names))
        yield _text(x, y + 2 * LINE, " × ".join(map(str, shape)))
        y += 2 * LINE
    yield "</a>"


def _memory(drawn: Architecture, tops: dict) -> Iterator[str]:
    """From the memory to the cross-attention, as keys and values."""
    column = drawn.boxes["target"]
    cross = next(
        i for i, box in enumerate(column) if box.name == "cross-attention"
    )
    edge = LEFT["source"] + COLUMN
    between = (edge + LEFT["target"]) / 2
    start = tops["source"][-1] + drawn.boxes["source"][-1].height / 2
    end = tops["target"][cross] + column[cross].height / 2
    yield _line(
        (edge, start), (between, start), (between, end), (LEFT["target"], end)
    )
    yield _text(between, end + 12, "K, V", ' font-weight="bold" font-size="9"')
