"""`make weights`: the date model for the page, from book/data.

Written are three files of book/kit/explorers. `date_model.js` has the weights
in float16 and the vocabularies; the page loads it when a reader wants to ask
the model. `date_examples.json` has what the model says of a few dates, so
that the page has something to show before. `date_kinds.json` has the ways of
writing a date that the model learnt, so that the page can say what is none.
"""

import base64
import json
import re
import textwrap

import torch
from babel import Locale
from safetensors.torch import save

from kit.dates import FIRST, LANGUAGES, LAST, babel_format, ordinal, styles
from kit.explorers import FOLDER
from kit.trained import FOLDER as DATA
from kit.trained import Trained, date_model, read_kept
from lib.decoding import greedy
from lib.heads import record_weights

MODEL, EXAMPLES = "date_model.js", "date_examples.json"
KINDS = "date_kinds.json"
COLUMNS = 80
FIELDS = {"y": "y", "MMMM": "MMM", "MMM": "MMM"} | {
    letters: letters[0] for letters in ("M", "MM", "d", "dd")
}
CROSS = "decoder.blocks.{}.cross_attention"
ALSO = {"г": ["года"], "de": ["del"]}  # what people write where CLDR has this
DATES = {
    "dimanche 3 mars 2019": "French",
    "March 3rd, 2019": "English",
    "2019年3月3日": "Japanese",
    "mercoledì 31 agosto 1988": "Italian",
    "24 июля 1931 г.": "Russian",
    "Donnerstag, 24. Dezember 1931": "German",
    "21 de septiembre de 2048": "Spanish",
    "sex., 9 de jan. de 1970": "Portuguese",
    "11 augustus 2077": "Dutch",
    "1905年12月31日星期日": "Chinese",
}


def script(trained: Trained) -> str:
    """The text of `date_model.js`."""
    weights, card = read_kept("dates", DATA)
    halves = {key: weight.half() for key, weight in weights.items()}
    about = {
        "sha256": card["sha256"],
        "config": card["config"],
        "source": trained.source.tokens,
        "target": trained.target.tokens,
    }
    lines = textwrap.wrap(base64.b64encode(save(halves)).decode(), COLUMNS)
    return (
        '"use strict";\n'
        "// Written by `make weights` from book/data: the date model.\n"
        "globalThis.dateModel = {\n"
        f"card: {json.dumps(about, ensure_ascii=False)},\n"
        "weights: `\n" + "\n".join(lines) + "\n`,\n};\n"
    )


@torch.no_grad()
def example(trained: Trained, text: str) -> dict:
    """What the model writes for a text, how surely, and where it looks.

    Probabilities and weights are in thousandths. The five likeliest tokens
    of each step come best first; the weights by layer, head and row.
    """
    model, source, target, _ = trained
    ids = torch.tensor([source.encode(text)])
    written = greedy(model, ids)
    given = torch.cat([torch.ones_like(ids[:, :1]), written[:, :-1]], dim=1)
    with record_weights(model) as weights:
        p, tokens = model(ids, given)[0].softmax(-1).topk(5)
    names = [CROSS.format(i) for i in range(model.config.decoder_layers)]
    return {
        "text": text,
        "tokens": [target.tokens[i] for i in written[0].tolist()],
        "tops": [
            [[target.tokens[i], share] for i, share in zip(*row, strict=True)]
            for row in zip(tokens.tolist(), thousandths(p), strict=True)
        ],
        "cross": [thousandths(weights[name][0]) for name in names],
    }


def thousandths(p: torch.Tensor) -> list:
    return (1000 * p).round().int().tolist()


def examples(trained: Trained) -> str:
    """The text of `date_examples.json`, an example a line.

    The page calls them right before it has the rule that judges answers; a
    test asks the rule.
    """
    lines = [
        json.dumps(
            {"language": language} | example(trained, text),
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for text, language in DATES.items()
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def kinds() -> str:
    """The text of `date_kinds.json`, a language a line."""
    lines = [json.dumps(ways(name), ensure_ascii=False) for name in LANGUAGES]
    return (
        f'{{"years": [{FIRST.year}, {LAST.year}], "languages": [\n'
        + ",\n".join(lines)
        + "\n]}\n"
    )


def ways(language: str) -> dict:
    """The names of a language, whole and short, and its patterns."""
    locale = Locale.parse(language)
    months, days = (
        " ".join(
            name
            for width in ("wide", "abbreviated")
            for name in names["format"][width].values()
        )
        for names in (locale.months, locale.days)
    )
    return {
        "name": Locale("en").languages[language],
        "months": months,
        "days": days,
        "patterns": sorted({pattern(language, s) for s in styles(language)}),
    }


def pattern(language: str, style: str) -> str:
    """A CLDR pattern, part by part: "d de? MMM de? y".

    Names may be whole or short, and a word such as "de" may be missing: the
    page compares what it reads with what the model wrote. It looks for days
    of the week itself. `do` is an ordinal, 3rd.
    """
    pattern = babel_format(language, style, 1)
    if pattern in ("full", "long", "medium"):
        pattern = Locale.parse(language).date_formats[pattern].pattern
    parts = []
    for word, letters, other in re.findall(
        r"'([^']*)'|([A-Za-z]+)|([^\s'A-Za-z])", pattern
    ):
        for piece in word.strip(".").split():
            parts.append("do" if piece == ordinal(1) else f"{piece}?")
            parts += [f"{more}?" for more in ALSO.get(piece, ())]
        if letters.strip("E"):
            parts.append(FIELDS[letters])
        parts += [other] if other else []
    return " ".join(without_marks(parts))


def without_marks(parts: list[str]) -> list[str]:
    """Without commas and the like, unless nothing but digits is written."""
    words = {"MMM", *filter(str.isalpha, set(parts) - {*FIELDS.values()})}
    if words.isdisjoint(parts):
        return parts
    return [part for part in parts if part.strip("?").isalpha()]


def texts() -> dict[str, str]:
    """All files, by name."""
    trained = date_model()
    return {
        MODEL: script(trained),
        EXAMPLES: examples(trained),
        KINDS: kinds(),
    }


def main() -> None:
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text.encode()) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
