"""`python -m kit.projects 1 mine.py`. Not taught."""

import sys
from pathlib import Path

from kit.projects import examine, load, project


def main(arguments: list[str]) -> str | int:
    """Examine a file; the result is for `sys.exit`."""
    if len(arguments) != 2:
        return "use: python -m kit.projects <1 to 5> <file>"
    number, file = arguments
    try:
        made = load(Path(file), project(number).INTERFACE.__name__)
    except (OSError, ValueError) as error:
        return str(error)
    examine(number, made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
