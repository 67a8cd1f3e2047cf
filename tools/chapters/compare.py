"""When two outputs of a cell count as the same.

Other processors and GPUs round differently, so a number printed with two or
more decimals may differ by one unit of its last digit, and a figure by its
antialiasing. Everything else must be equal: words, integers, shapes, `1.`,
one decimal, versions, dates, and the columns and lines they stand in.
"""

import base64
import io
import json
import os.path
import re
from itertools import zip_longest

from tools.source.cells import without_scripts

NUMBER = re.compile(
    r"(?P<padding>[ ]*)"
    r"(?P<mantissa>[-+]?(?<![\w.])[0-9]+\.[0-9]{2,})"
    r"(?P<exponent>(?:[eE][-+]?[0-9]+)?)"
    r"(?!\w|\.\w)"  # not the start of 2.13.0, 0.25s or 3.50.png
)

# Root mean square over 8-bit channels. Measured with matplotlib 3.11 on heat
# maps, bars, scatter and line plots of 6 x 4.5 and 10 x 7 inches at 200 dpi:
# values changed by 1e-7 to 1e-4 of themselves move antialiasing by 0.00 to
# 0.20. One digit in a 7-point label moves it by 0.76 or more, a line width
# by 0.88, a bar by 1.9, a point by 2.7, a colour by 1.4 (5 of 255 levels).
# Between them lies a marker that falls on the next whole pixel: 0.36 to 0.56.
FIGURE_TOLERANCE = 0.5


def number_difference(stored: re.Match, new: re.Match) -> str | None:
    """Why two printed numbers count as different, or None.

    Digits are subtracted as integers: no float is made of them.
    """
    was, now = stored[0].strip(), new[0].strip()
    (old_whole, old_part), (whole, part) = (
        number["mantissa"].split(".") for number in (stored, new)
    )
    if len(old_part) != len(part) or stored["exponent"] != new["exponent"]:
        return f"{was} became {now}: decimals or exponent differ"
    units = abs(int(old_whole + old_part) - int(whole + part))
    if units > 1:
        return (
            f"{was} became {now}: {units} units of the last printed digit, "
            "1 is allowed"
        )
    same_column = len(stored[0]) == len(new[0])  # 9.99 may become 10.00
    if stored["padding"] != new["padding"] and not same_column:
        return f"{was} became {now}: the space before it differs"
    return None


def line_difference(stored: str | None, new: str | None) -> str | None:
    """Why two lines count as different, or None."""
    if stored is None or new is None:
        return f"the {'stored' if stored is None else 'new'} output ends here"
    if NUMBER.sub("\0", stored) != NUMBER.sub("\0", new):
        return "only the last digit of a number with 2 decimals may differ"
    pairs = zip(NUMBER.finditer(stored), NUMBER.finditer(new), strict=True)
    return next(filter(None, (number_difference(*p) for p in pairs)), None)


def text_difference(stored: str, new: str) -> str | None:
    """The first line that differs, stored and new, and why; or None."""
    lines = zip_longest(stored.split("\n"), new.split("\n"))
    for number, (was, now) in enumerate(lines, start=1):
        if why := line_difference(was, now):
            column = len(os.path.commonprefix([was or "", now or ""]))
            start = max(0, column - 50)  # a line of HTML can be very long
            was, now = (
                "(no such line)" if line is None else line[start : start + 100]
                for line in (was, now)
            )
            return f"line {number}: {why}\n  stored: {was}\n  new:    {now}"
    return None


def figure_difference(stored: str, new: str) -> str | None:
    """Why two base64-encoded PNG images count as different, or None."""
    from matplotlib.testing.compare import calculate_rms

    if stored.strip() == new.strip():
        return None
    was, now = _pixels(stored), _pixels(new)
    if was.shape != now.shape:
        old, new = (f"{p.shape[1]} x {p.shape[0]} pixels" for p in (was, now))
        return f"the size changed: {old} stored, {new} new"
    rms = calculate_rms(was, now)
    if rms > FIGURE_TOLERANCE:
        return f"the figure changed: RMS {rms:.2f}, allowed {FIGURE_TOLERANCE}"
    return None


def _pixels(png: str):
    import numpy as np
    from PIL import Image

    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")
    return np.asarray(image).astype(np.int16)  # uint8 differences wrap round


def fields(output: dict) -> dict[str, str]:
    """What a reader sees of an output, by stream name or MIME type.

    An explorer carries its scripts along only where it has just been run.
    """
    if output["output_type"] == "stream":
        return {output["name"]: output["text"]}
    if output["output_type"] == "error":
        return {"ename": output["ename"], "evalue": output["evalue"]}
    return {
        kind: without_scripts(data)
        if isinstance(data, str)
        else json.dumps(data, indent=1)
        for kind, data in sorted(output["data"].items())
    }


def outputs_difference(
    stored: list[dict], new: list[dict], figures: bool = True
) -> str | None:
    """Why the outputs of a cell count as different, or None.

    Streams must have been merged, one per name. With `figures` False, PNG
    images need only be there: another matplotlib draws them differently.
    """
    was, now = [fields(o) for o in stored], [fields(o) for o in new]
    if [list(f) for f in was] != [list(f) for f in now]:
        stderr = ["\n" + f["stderr"] for f in now if "stderr" in f]
        return f"stored: {_kinds(was)}\nnew:    {_kinds(now)}{''.join(stderr)}"
    for old_fields, new_fields in zip(was, now, strict=True):
        for kind, old in old_fields.items():
            is_figure = kind == "image/png"
            if is_figure and not figures:
                continue
            differ = figure_difference if is_figure else text_difference
            if why := differ(old, new_fields[kind]):
                return f"{kind}, {why}"
    return None


def _kinds(outputs: list[dict[str, str]]) -> str:
    return ", then ".join(" + ".join(f) for f in outputs) or "no output"
