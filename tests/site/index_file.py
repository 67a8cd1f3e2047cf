"""The search index of a built site, read in Python."""

import json
from dataclasses import dataclass

from search_index import FILE, FIRST, usual_anchor


@dataclass(frozen=True)
class Found:
    """A section, as the index has it."""

    page: str
    anchor: str
    weight: float
    title: str
    terms: list[str]
    bold: list[str]
    text: str


def read(site):
    """The object that the script makes."""
    script = (site / FILE).read_text("utf-8")
    return json.loads(script.removeprefix("globalThis.bookIndex=")[:-2])


def sections(site):
    """All sections, decoded."""
    index = read(site)
    words = index["words"].split("\n")
    for page, anchor, weight, *texts in index["sections"]:
        title, terms, bold, text = (
            "".join(words[ord(code) - FIRST] for code in coded)
            for coded in texts
        )
        yield Found(
            index["pages"][page][0],
            "" if anchor == 0 else anchor or usual_anchor(title),
            weight,
            title,
            [term for term in terms.split("; ") if term],
            [word for word in bold.split("; ") if word],
            text,
        )
