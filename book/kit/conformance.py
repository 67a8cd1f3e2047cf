"""The table of chapter 20: which public attention has which property.

Not taught. `make conformance` measures and writes the record; what stands
here reads it, for a page as narrow as a phone.
"""

FAMILIES = {
    "what a mask hides": (
        "mask polarity",
        "mask before softmax",
        "leak, training",
        "leak, evaluation",
        "padding invariance",
    ),
    "a query without a key": (
        "fully masked row",
        "fully masked row, gradient",
    ),
    "what is computed": (
        "scale",
        "half precision",
        "view or transpose",
        "weights agree with output",
        "dropout off in evaluation",
    ),
}
PROPERTIES = tuple(name for family in FAMILIES.values() for name in family)
MARKS = {
    "holds": "✓",
    "fails": "✗",
    "raises": "E",
    "note": "n",
    "not offered": "·",
}
WAY = 22  # characters for the way in which a package is called


def table(record: dict, family: str) -> str:
    """One family of properties as text, at most 40 characters wide.

    A column is a property and has a number, which is explained above the
    table; what a mark means stands below it.
    """
    names = FAMILIES[family]
    lines = [f"{i} {name}" for i, name in enumerate(names, start=1)]
    numbers = " ".join(str(i + 1) for i in range(len(names)))
    lines += ["", " " * (WAY + 2) + numbers]
    package = ""
    for row in record["rows"]:
        if row["package"] != package:
            package = row["package"]
            lines.append(f"{package} {row['version']}")
        marks = [MARKS[row["findings"][name]["verdict"]] for name in names]
        lines.append(f"  {row['way']:{WAY}}{' '.join(marks)}")
    legend = [f"{mark} {name}" for name, mark in MARKS.items()]
    return "\n".join([*lines, "", "  ".join(legend[:3]), *legend[3:]])


def pictured(record: dict) -> tuple[list[str], list[str], list[list[str]]]:
    """The whole table for a picture: names, properties, verdicts."""
    names = [
        f"{row['package'].removesuffix('-attention-pytorch')}: {row['way']}"
        for row in record["rows"]
    ]
    table = [
        [row["findings"][name]["verdict"] for name in PROPERTIES]
        for row in record["rows"]
    ]
    return names, list(PROPERTIES), table


def failing(record: dict) -> list[dict]:
    """Each cell that fails or raises, its number, words and reproduction."""
    return [
        {"who": f"{row['package']} {row['version']}, {row['way']}"}
        | {"property": name}
        | row["findings"][name]
        for row in record["rows"]
        for name in PROPERTIES
        if row["findings"][name]["verdict"] in ("fails", "raises")
    ]


def counts(record: dict) -> dict[str, int]:
    """How many cells of the whole table hold, fail, and so on."""
    *_, rows = pictured(record)
    cells = [verdict for row in rows for verdict in row]
    return {verdict: cells.count(verdict) for verdict in MARKS}
