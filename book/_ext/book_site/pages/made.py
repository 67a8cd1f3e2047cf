"""Pages that are made of data: each directive fills `theme/made/NAME.md`.

    ```{exercises} 4
    ```
    ```{kill-rates}
    ```
    ```{schedule} semester
    ```
    ```{gpu-reports}
    ```

The first lists the exercises of a chapter with the typical mistakes, the
second all of them with what their checks notice, the third is a course of
`schedules.yml` with its minutes and points counted.

The last says what ran on which GPU, from the reports that `make test-gpu`
writes. Whether a notebook has changed since is found out each time the pages
are built, so the page cannot grow old unnoticed.
"""

import hashlib
import json
from pathlib import Path

import jinja2
import yaml
from sphinx.util.docutils import SphinxDirective

from ..source.chapters import Chapter, chapters

TEMPLATES = Path(__file__).parents[1] / "theme" / "made"
TEACH = Path("book", "teach")


def quoted(text: str) -> str:
    """A text in which Markdown changes nothing."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|$" else c for c in text)


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def total(exercises: list[dict], word: str) -> str:
    return plural(sum(e[f"{word}s"] for e in exercises), word)


def noticed(e: dict) -> str:
    return f"{e['mutants'] - e['equivalent']} of {e['mutants']}"


def passed(counts: dict) -> str:
    """`12 of 12`: how many cells or tests passed."""
    return f"{counts['passed']} of {counts['passed'] + counts['failed']}"


def code_hash(path: Path) -> str:
    """SHA-256 of the code of a notebook, as the report has it."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def text(name: str, **data) -> str:
    """The Markdown that a directive stands for."""
    loader = jinja2.FileSystemLoader(TEMPLATES)
    made = jinja2.Environment(
        loader=loader, trim_blocks=True, lstrip_blocks=True
    )
    for change in (quoted, plural, total, noticed, passed, code_hash):
        made.filters[change.__name__] = change
    return made.get_template(f"{name}.md").render(data)


def sessions(course: list[dict], book: list, exercises: list) -> list[dict]:
    """The sessions of a course, with what is read and done at home."""
    by_number = {chapter.number: chapter for chapter in book}
    asked = {e["name"]: e for e in exercises}
    return [
        {
            "when": session["when"],
            "class": session["class"],
            "read": [by_number[n] for n in session.get("chapters", [])],
            "done": [asked[n] for n in session.get("exercises", [])],
            "home": session.get("home", ""),
        }
        for session in course
    ]


class Made(SphinxDirective):
    """Markdown that is made when the page is read."""

    optional_arguments = 1

    def run(self):
        made = text(self.name, **self.data())
        return self.parse_text_to_nodes(made, allow_section_headings=True)

    def read(self, path: Path) -> str:
        """What a file says that the page is made of."""
        self.env.note_dependency(str(path))
        return path.read_text(encoding="utf-8")

    def chapters(self) -> list[Chapter]:
        book = chapters(Path(self.env.srcdir))
        for path in (self.env.srcdir / "_toc.yml", *(c.path for c in book)):
            self.env.note_dependency(str(path))
        return book

    def exercises(self) -> list[dict]:
        path = Path(self.env.srcdir, TEACH, "exercises.json")
        return json.loads(self.read(path))


class Exercises(Made):
    """The exercises of a chapter, or those of all."""

    def data(self):
        rows = self.exercises()
        for chapter in self.arguments:
            rows = [e for e in rows if e["number"].startswith(f"{chapter}.")]
        return {"exercises": rows}


class Schedule(Made):
    """The sessions of a course."""

    required_arguments = 1

    def data(self):
        path = Path(self.env.srcdir, TEACH, "schedules.yml")
        courses, (wanted,) = yaml.safe_load(self.read(path)), self.arguments
        book, exercises = self.chapters(), self.exercises()
        try:
            return {"sessions": sessions(courses[wanted], book, exercises)}
        except KeyError as missing:
            raise self.error(
                f"schedules.yml, course {wanted}: there is no {missing}"
            ) from None


class Reports(Made):
    """What each device said of each chapter, the newest report first."""

    def data(self):
        paths = sorted(Path(self.env.srcdir).glob("reports/*.json"))
        reports = [json.loads(self.read(path)) for path in paths]
        return {"reports": reports, "chapters": self.chapters()}


def setup(app):
    app.add_directive("exercises", Exercises)
    app.add_directive("kill-rates", Exercises)
    app.add_directive("schedule", Schedule)
    app.add_directive("gpu-reports", Reports)
