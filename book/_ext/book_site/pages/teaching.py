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
from sphinx.util.docutils import SphinxDirective

from ..source.chapters import chapters

FOLDER = Path("book", "teach")
FILES = ("exercises.json", "schedules.yml")


def quoted(text: str) -> str:
    """A text in which Markdown changes nothing."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|$" else c for c in text)


def plural(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def total(exercises: list[dict], word: str) -> str:
    return plural(sum(e[f"{word}s"] for e in exercises), word)


def noticed_of(e: dict) -> str:
    return f"{e['mutants'] - e['equivalent']} of {e['mutants']}"


def exercise_text(e: dict) -> list[str]:
    """An exercise with its typical mistakes folded."""
    kind = [plural(e["minutes"], "minute"), e["difficulty"]]
    kind += [name for name in ("transfer", "variants") if e[name]]
    kind.append(plural(e["points"], "point"))
    head = plural(len(e["mistakes"]), "typical mistake")
    head += f"; {noticed_of(e)} mutants noticed"
    head += f", {e['equivalent']} right too" if e["equivalent"] else ""
    return [
        f"**{e['number']} {e['title']}** ({' · '.join(kind)})\n",
        f"<details><summary>{head}</summary>\n",
        *(
            f"- **{quoted(mistake)}**: {quoted(hint)}"
            for mistake, hint in e["mistakes"].items()
        ),
        "\n</details>\n",
    ]


def chapter_text(exercises: list[dict]) -> str:
    """The exercises of a chapter."""
    lines = [
        f"{plural(len(exercises), 'exercise')}, "
        f"about {total(exercises, 'minute')}, "
        f"{total(exercises, 'point')}. Under each stand the answers "
        "that students give, and what the check says to them.\n"
    ]
    return "\n".join(sum(map(exercise_text, exercises), lines))


def kill_table(exercises: list[dict]) -> str:
    """What the check of each exercise notices."""
    mistakes = [len(e["mistakes"]) for e in exercises]
    mutants = sum(e["mutants"] for e in exercises)
    same = sum(e["equivalent"] for e in exercises)
    lines = [
        f"Together {plural(len(exercises), 'exercise')}, "
        f"{plural(sum(mistakes), 'typical mistake')} (no exercise has fewer "
        f"than {min(mistakes)}), each with the hint that is meant for it, and "
        f"{plural(mutants - same, 'mutant')} noticed of {mutants:,}. Of the "
        f"other {same} it is written down why they are right too.\n",
        "| exercise | mistakes | mutants noticed | right too |",
        "|---|---:|---:|---:|",
    ]
    for e in exercises:
        name, noticed = f"{e['number']} {e['title']}", noticed_of(e)
        same = e["equivalent"] or ""
        lines.append(f"| {name} | {len(e['mistakes'])} | {noticed} | {same} |")
    return "\n".join(lines)


def schedule_text(course: list[dict], book: list, exercises: list) -> str:
    """The sessions of a course; minutes and points are counted."""
    by_number = {chapter.number: chapter for chapter in book}
    asked = {e["name"]: e for e in exercises}
    lines = ["{.stacked}", "| when | in class | at home |", "|---|---|---|"]
    for session in course:
        read = [by_number[n] for n in session.get("chapters", [])]
        done = [asked[n] for n in session.get("exercises", [])]
        home = []
        if read:
            minutes = plural(sum(c.minutes for c in read), "minute")
            links = ", ".join(
                f"[{c.number}. {c.title}](../{c.path.name})" for c in read
            )
            home.append(f"read {minutes}: {links}")
        if done:
            home.append(
                f"exercise{'s' * (len(done) > 1)} "
                f"{', '.join(e['number'] for e in done)} "
                f"({total(done, 'minute')}, {total(done, 'point')})"
            )
        home += [session["home"]] if "home" in session else []
        cells = (session["when"], session["class"], "; ".join(home))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


class Teaching(SphinxDirective):
    """Markdown that is made when the page is read."""

    optional_arguments = 1

    def run(self):
        folder = Path(self.env.srcdir, FOLDER)
        for name in FILES:
            self.env.note_dependency(str(folder / name))
        texts = [(folder / name).read_text(encoding="utf-8") for name in FILES]
        exercises, courses = json.loads(texts[0]), yaml.safe_load(texts[1])
        return self.parse_text_to_nodes(self.text(exercises, courses))

    def text(self, exercises: list[dict], courses: dict) -> str:
        if self.name == "kill-rates":
            return kill_table(exercises)
        (wanted,) = self.arguments
        if self.name == "exercises":
            of = [e for e in exercises if e["number"].split(".")[0] == wanted]
            return chapter_text(of)
        try:
            book = chapters(Path(self.env.srcdir))
            return schedule_text(courses[wanted], book, exercises)
        except KeyError as missing:
            raise self.error(
                f"schedules.yml, course {wanted}: there is no {missing}"
            ) from None


def setup(app):
    for name in ("exercises", "kill-rates", "schedule"):
        app.add_directive(name, Teaching)
