"""The report of an attention in a file; not taught.

python -m lib.diagnose mine.py:my_attention --mask ignore
"""

import argparse
import runpy
import sys
from pathlib import Path

from .checks import diagnose


def main(arguments: list[str]) -> int:
    """Print the report: 0 if nothing fails, else 1."""
    if "--public" in arguments:
        return public()
    unsaid = argparse.SUPPRESS  # what is not given keeps its default
    parser = argparse.ArgumentParser(
        "python -m lib.diagnose", argument_default=unsaid
    )
    which = "FILE.py:NAME, or FILE.py:'Class(16, heads=2)'"
    parser.add_argument("attention", help=which)
    for option in ("call", "axes", "mask", "mask-axes"):
        parser.add_argument(f"--{option}")
    for option in ("width", "heads", "length", "seed"):
        parser.add_argument(f"--{option}", type=int)
    parser.add_argument("--positions", action="store_true")
    parser.add_argument("--scale", type=float)
    given = vars(parser.parse_args(arguments))
    file, _, expression = given.pop("attention").partition(":")
    names = runpy.run_path(file)
    attention = eval(expression, names)  # the reader's own file
    report = diagnose(attention, **given)
    print(report)
    return 1 if report.fails else 0


def public() -> int:
    """The same checks over public packages, in the book's repository."""
    script = Path(__file__).resolve().parents[3] / "benchmarks/conformance.py"
    if not script.exists():
        print(f"--public: {script} is not there; it is in the repository")
        return 2
    runpy.run_path(str(script), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
