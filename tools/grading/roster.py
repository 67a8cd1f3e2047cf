"""Who is in the course: a table that the teacher has, or exports.

It may be two columns, `student` and `variant`, or what Canvas or Moodle
export as their grades; the columns of those are known by their names.
"""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

# What is meant, and how tables call it, in small letters.
COLUMNS = {
    "student": ("student", "student id", "user", "folder"),
    "variant": ("variant", "seed"),
    "name": ("name", "full name", "student name"),
    "first": ("first name", "firstname", "given name"),
    "last": ("last name", "lastname", "surname", "family name"),
    "number": ("id number", "idnumber", "id"),
    "email": ("email address", "email", "e-mail"),
    "login": ("sis login id", "username", "login"),
    "sis": ("sis user id",),
    "section": ("section",),
}
SPEAKS_OF_NOBODY = ("points possible", "manual posting", "muted")


class RosterError(Exception):
    """What is wrong with the table."""


@dataclass(frozen=True)
class Person:
    """A student as the roster knows her."""

    student: str
    variant: int | None = None
    known: dict[str, str] = field(default_factory=dict, hash=False)

    def names(self) -> set[str]:
        """All that a folder or a file may call her, in small letters."""
        first, last = self.known.get("first"), self.known.get("last")
        both = {f"{first} {last}", f"{last} {first}", f"{last}, {first}"}
        values = {self.student, *self.known.values()}
        values |= both if first and last else set()
        values.discard(self.known.get("section"))
        return {plain_name(value) for value in values if value}


def plain_name(text: str) -> str:
    """A name without what systems put into it or take out of it."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


@dataclass(frozen=True)
class Roster:
    """Everybody, and the header of the table for whoever imports it back."""

    people: tuple[Person, ...] = ()
    header: tuple[str, ...] = ()

    def find(self, *names: str) -> Person | None:
        """The student with one of these names; None if there is none."""
        for name in names:
            hers = [p for p in self.people if plain_name(name) in p.names()]
            if len(hers) == 1:
                return hers[0]
        return None


def read(path: Path | None) -> Roster:
    """The roster in a CSV file; an empty one where there is no file.

    Raises:
        RosterError: it cannot be read, or names no students.
    """
    if path is None:
        return Roster()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RosterError(f"{path}: {error}") from None
    try:
        dialect = csv.Sniffer().sniff(text.split("\n")[0], delimiters=",;\t")
    except csv.Error:
        dialect = csv.excel
    header, *rows = [*csv.reader(text.splitlines(), dialect)] or [[]]
    columns = known_columns(header)
    if not {"student", "name", "email", "number", "last"} & columns.keys():
        raise RosterError(
            f"{path}: no column names the students; expected `student`, or "
            f"what Canvas or Moodle export, got {', '.join(header)}"
        )
    people = [person(row, columns, path) for row in rows if any(row)]
    return Roster(tuple(told_apart([p for p in people if p])), tuple(header))


def told_apart(people: list[Person]) -> Iterator[Person]:
    """Two of the same name are called by something else as well."""
    counts = Counter(person.student for person in people)
    for place, person in enumerate(people, start=1):
        if counts[person.student] > 1:
            more = (person.known.get(k) for k in ("login", "number", "email"))
            other = next(filter(None, more), str(place))
            yield replace(person, student=f"{person.student} ({other})")
        else:
            yield person


def known_columns(header: list[str]) -> dict[str, int]:
    """Where the columns are that are understood."""
    places = {name.strip().lower(): n for n, name in enumerate(header)}
    return {
        meant: places[name]
        for meant, names in COLUMNS.items()
        for name in reversed(names)
        if name in places
    }


def person(row: list[str], columns: dict[str, int], path: Path):
    """A student; None if the row speaks of none."""
    cells = {
        meant: row[place].strip()
        for meant, place in columns.items()
        if place < len(row)
    }
    values = {meant: text for meant, text in cells.items() if text}
    first = row[0].strip().lower() if row else ""
    if not values or first.startswith(SPEAKS_OF_NOBODY):
        return None
    variant = values.pop("variant", None)
    if variant is not None and not variant.isdecimal():
        raise RosterError(
            f"{path}: the variant of {row[0]} is {variant!r}, not a number"
        )
    full = " ".join(values[k] for k in ("first", "last") if k in values)
    values.setdefault("name", values.get("student") or full)
    keys = ("student", "name", "login", "number", "email")
    student = next(values[k] for k in keys if values.get(k))
    return Person(student, int(variant) if variant else None, values)
