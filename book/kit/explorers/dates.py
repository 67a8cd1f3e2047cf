"""The trained model of chapter 11, to be asked in the page. Not taught.

The files it needs are written by `make weights`: what the model says of a
few dates, the ways of writing a date that it learnt, and its weights, which
a page loads when a reader asks for them.
"""

import json

from kit.explorers import FOLDER, Explorer, table

MODEL = "date_model"
LIVE = ("engine", "date-live")  # what runs the model
COMPACT = ("French", "English", "Russian", "Japanese")
STEP = 6  # the second digit of the month


class LiveExplorer(Explorer):
    """An explorer that can load the model.

    A page loads `date_model.js` on demand, and what else stands in `later`.
    A notebook carries all of it along.
    """

    def __init__(self, tag, fallback, scripts=(), later=(), **attributes):
        size = (FOLDER / f"{MODEL}.js").stat().st_size
        attributes["kilobytes"] = round(size / 1000)
        super().__init__(tag, fallback, [*LIVE, *scripts], **attributes)
        self.later = [MODEL, *later]


def examples() -> list[dict]:
    """What the model says of some dates, as `make weights` has written it."""
    return written_by_weights("examples")


def written_by_weights(name: str) -> list | dict:
    """A file beside this one, by what it has."""
    return json.loads((FOLDER / f"date_{name}.json").read_text("utf-8"))


def date_explorer(compact: bool = False) -> Explorer:
    """Dates that the model writes, where it looks, and what else it thinks.

    Args:
        compact: four examples and the mean of the heads only, for a page
            that shows and does not explain.
    """
    kept, kinds = examples(), written_by_weights("kinds")
    if compact:
        kept = [
            example | {"cross": [[mean(heads)] for heads in example["cross"]]}
            for example in kept
            if example["language"] in COMPACT
        ]
    fallback = written(kept)
    if not compact:
        fallback += "\n" + looks(kept[0])
    return LiveExplorer(
        "date-explorer",
        fallback,
        ["date-parts"],
        later=["beam-search", "date-rule"],
        examples=kept,
        kinds=kinds,
        learnt=learnt(**kinds),
        compact=compact,
    )


def learnt(years: list[int], languages: list[dict]) -> str:
    """In words, what the model was trained on, and what it was not."""
    *names, last = (language["name"] for language in languages)
    return (
        f"It learnt full dates of the years {years[0]} to {years[1]}, in "
        f"{', '.join(names)} and {last}. It learnt no times, no short years, "
        "no sentences, and in digits alone only 03.03.2019 and 2019/03/03."
    )


def mean(heads: list) -> list[list[int]]:
    """The mean over the heads of one layer, in thousandths as they are."""
    together = zip(*heads, strict=True)  # the rows of all heads
    return [
        [round(sum(column) / len(heads)) for column in zip(*rows, strict=True)]
        for rows in together
    ]


def written(kept: list[dict]) -> str:
    """What is read and what is written, as a table."""
    rows = {
        example["text"]: [
            example["language"],
            "".join(token for token in example["tokens"] if len(token) == 1),
        ]
        for example in kept
    }
    return table(
        "What the trained model makes of dates in words",
        ["it reads", "language", "it writes"],
        rows,
    )


def looks(example: dict) -> str:
    """How sure the model is of each token, and where it looks most."""
    rows = {}
    for step, weights in enumerate(mean(example["cross"][-1])):
        token, share = example["tokens"][step], max(weights)
        place = weights.index(share)
        where = f"{example['text'][place]}, character {place + 1}"
        rows[f"{step + 1}: {token}"] = [
            f"{example['tops'][step][0][1] / 1000:.2f}",
            f"{where}: {share / 1000:.2f}",
        ]
    return table(
        f"Reading “{example['text']}”, the mean of its heads",
        ["it writes", "probability", "it looks most at"],
        rows,
    )
