"""What the teacher's pages are told of the exercises and of the chapters.

    ```{exercises} 4
    ```
    ```{kill-rates}
    ```
    ```{schedule} semester
    ```

The first lists the exercises of a chapter with the typical mistakes, the
second all of them with what their checks notice, the third is a course of
`schedules.yml` with its minutes and points counted.
"""

import json
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ..source.chapters import chapters

FOLDER = Path("book", "teach")


def read_exercises(root: Path) -> list[dict]:
    """The exercises, in the order of the book."""
    path = root / FOLDER / "exercises.json"
    return json.loads(path.read_text(encoding="utf-8"))


def quoted(text: str) -> str:
    """A text in which Markdown changes nothing."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|$" else c for c in text)


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def kind(e: dict) -> str:
    """In a line: minutes, difficulty, points."""
    parts = [plural(e["minutes"], "minute"), e["difficulty"]]
    parts += ["transfer"] if e["transfer"] else []
    parts += ["variants"] if e["variants"] else []
    return " · ".join([*parts, plural(e["points"], "point")])


def chapter_text(exercises: list[dict]) -> str:
    """The exercises of a chapter, each with its typical mistakes folded."""
    lines = [
        plural(len(exercises), "exercise"),
        f"about {sum(e['minutes'] for e in exercises)} minutes",
        plural(sum(e["points"] for e in exercises), "point"),
    ]
    text = [f"{', '.join(lines)}. Under each stand the answers that"]
    text[0] += " students give, and what the check says to them."
    for e in exercises:
        text += ["", f"**{e['number']} {e['title']}** ({kind(e)})", ""]
        noticed = e["mutants"] - e["equivalent"]
        head = (
            f"{plural(len(e['mistakes']), 'typical mistake')}; "
            f"{noticed} of {e['mutants']} mutants noticed"
        )
        if e["equivalent"]:
            head += f", {e['equivalent']} right too"
        text += [f"<details><summary>{head}</summary>", ""]
        for mistake, hint in e["mistakes"].items():
            text.append(f"- **{quoted(mistake)}**: {quoted(hint)}")
        text += ["", "</details>"]
    return "\n".join(text)


def kill_table(exercises: list[dict]) -> str:
    """What the check of each exercise notices."""
    rows = [
        "| exercise | mistakes | mutants noticed | right too |",
        "|---|---:|---:|---:|",
    ]
    for e in exercises:
        noticed = e["mutants"] - e["equivalent"]
        rows.append(
            f"| {e['number']} {e['title']} | {len(e['mistakes'])} | {noticed}"
            f" of {e['mutants']} | {e['equivalent'] or ''} |"
        )
    mistakes = sum(len(e["mistakes"]) for e in exercises)
    fewest = min(len(e["mistakes"]) for e in exercises)
    mutants = sum(e["mutants"] for e in exercises)
    same = sum(e["equivalent"] for e in exercises)
    total = (
        f"Together {plural(len(exercises), 'exercise')}, "
        f"{plural(mistakes, 'typical mistake')} (no exercise has fewer than "
        f"{fewest}), each with the hint that is meant for it, and "
        f"{plural(mutants - same, 'mutant')} noticed of "
        f"{mutants:,}. Of the other {same} it is written down why they are "
        "right too."
    )
    return "\n".join([total, "", *rows])


def schedule_text(course: list[dict], book: list, exercises: list) -> str:
    """The sessions of a course; minutes and points are counted."""
    by_number = {chapter.number: chapter for chapter in book}
    asked = {e["name"]: e for e in exercises}
    rows = ["{.stacked}", "| when | in class | at home |", "|---|---|---|"]
    for session in course:
        home = [asked[n] for n in session.get("exercises", [])]
        read = [by_number[n] for n in session.get("chapters", [])]
        links = ", ".join(
            f"[{c.number}. {c.title}](../{Path(c.document).name}.ipynb)"
            for c in read
        )
        minutes = sum(c.minutes for c in read)
        at_home = (
            [f"read {plural(minutes, 'minute')}: {links}"] if read else []
        )
        if home:
            names = ", ".join(e["number"] for e in home)
            at_home.append(
                f"exercise{'s' * (len(home) > 1)} {names} "
                f"({plural(sum(e['minutes'] for e in home), 'minute')}, "
                f"{plural(sum(e['points'] for e in home), 'point')})"
            )
        at_home += [session["home"]] if "home" in session else []
        rows.append(
            f"| {session['when']} | {session['class']} | "
            f"{'; '.join(at_home)} |"
        )
    return "\n".join(rows)


class Teaching(SphinxDirective):
    """Markdown that is made when the page is read."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        for name in ("exercises.json", "schedules.yml"):
            self.env.note_dependency(str(root / FOLDER / name))
        return self.parse_text_to_nodes(self.text(root))

    def text(self, root: Path) -> str:
        raise NotImplementedError


class Exercises(Teaching):
    """The exercises of a chapter."""

    required_arguments = 1

    def text(self, root: Path) -> str:
        wanted = f"{int(self.arguments[0])}."
        found = read_exercises(root)
        return chapter_text(
            [e for e in found if e["number"].startswith(wanted)]
        )


class KillRates(Teaching):
    """What the checks notice."""

    def text(self, root: Path) -> str:
        return kill_table(read_exercises(root))


class Schedule(Teaching):
    """A course of `schedules.yml`."""

    required_arguments = 1

    def text(self, root: Path) -> str:
        path, name = root / FOLDER / "schedules.yml", self.arguments[0]
        courses = yaml.safe_load(path.read_text(encoding="utf-8"))
        try:
            return schedule_text(
                courses[name], chapters(root), read_exercises(root)
            )
        except KeyError as missing:
            raise self.error(
                f"schedules.yml, course {name}: there is no {missing}"
            ) from None


def setup(app):
    app.add_directive("exercises", Exercises)
    app.add_directive("kill-rates", KillRates)
    app.add_directive("schedule", Schedule)
