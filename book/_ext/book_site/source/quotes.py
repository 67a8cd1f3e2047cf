"""Curly quotes where Sphinx sets none: in summaries and titles of checks."""

import re

APART = re.compile(r"(<code>.*?</code>|<[^>]*>|`[^`]*`)", re.DOTALL)
OPENING = re.compile(r'(?<![^\s(\[])"')
SUMMARY = re.compile(r"(?<=<summary>).*?(?=</summary>)", re.DOTALL)


def curly(text: str) -> str:
    """A text, maybe with HTML, with the quotes and apostrophes of print."""
    parts = APART.split(text)
    for at in range(0, len(parts), 2):  # between tags and code
        part = OPENING.sub("“", parts[at])
        parts[at] = part.replace('"', "”").replace("'", "’")
    return "".join(parts)


def in_summaries(text: str) -> str:
    """Markdown whose summaries have such quotes."""
    return SUMMARY.sub(lambda found: curly(found[0]), text)
