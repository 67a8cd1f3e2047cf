"""What Chromium does not write into the file, or not the same twice."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pikepdf


def places(pdf: bytes) -> dict[str, int]:
    """The page of every place that a link of the book leads to."""
    with pikepdf.open(BytesIO(pdf)) as book:
        numbers = {page.objgen: n for n, page in enumerate(book.pages, 1)}
        return {
            name.lstrip("/"): numbers[place[0].objgen]
            for name, place in book.Root.Dests.items()
        }


def name_bookmarks(book: pikepdf.Pdf, titles: list[str]) -> None:
    """Give the bookmarks the words of the headings, in order.

    Chromium writes some words twice and leaves out a space where a line
    breaks. A reader first sees parts and chapters; those of a chapter are
    folded.
    """
    with book.open_outline() as outline:
        marks = [*walk(outline.root)]
        for mark, title in zip(marks, titles, strict=True):
            mark.title = title
        for part in outline.root:
            for chapter in part.children:
                chapter.is_closed = True


def walk(marks: list) -> Iterator:
    """Every bookmark, in the order of the book."""
    for mark in marks:
        yield mark
        yield from walk(mark.children)


def write(pdf: bytes, titles: list[str], contents: dict, path: Path) -> None:
    """Put the book into its place, with its authors and without a date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with pikepdf.open(BytesIO(pdf)) as book:
        name_bookmarks(book, titles)
        del book.docinfo
        book.docinfo["/Title"] = contents["title"]
        book.docinfo["/Author"] = contents["author"]
        book.docinfo["/Subject"] = f"Edition {contents['edition']}"
        book.Root.Lang = "en-GB"
        book.Root.PageMode = pikepdf.Name.UseOutlines
        book.save(
            part,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            deterministic_id=True,
        )
    part.replace(path)
