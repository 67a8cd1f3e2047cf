"""`kit.dates.generate` beside one plain call of Babel for each example."""

import json
import random
from datetime import date
from pathlib import Path

from babel.dates import format_date

from benchmarks.timing import circumstances, ratio, side_by_side
from kit.dates import CASES, LANGUAGES, babel_format, generate, splits, styles

RESULT = Path(__file__).parent / "results" / "written_dates.json"
EXAMPLES = 5_000


def formats(days: list[date]) -> list[tuple[date, str, str]]:
    """What `format_date` is given to write what `generate` writes."""
    draw, calls = random.Random(0), []
    for day in days:
        language = draw.choice(LANGUAGES)
        style = draw.choice(styles(language))
        calls.append((day, babel_format(language, style, day.day), language))
        draw.choice(CASES)
    return calls


def ratios(count: int = EXAMPLES) -> dict:
    """How long `generate` takes, in calls of Babel, and how much it writes."""
    days = splits()["train"][:count]
    calls = formats(days)
    times = side_by_side(
        {
            "generate": lambda: generate(days),
            "babel": lambda: [format_date(*call) for call in calls],
        }
    )
    return {
        "examples": count,
        "examples a second": round(count / min(times["generate"])),
        "generate by babel": ratio(times, "generate", "babel"),
    }


def main() -> None:
    record = circumstances() | {"threads": 1} | ratios()
    RESULT.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
