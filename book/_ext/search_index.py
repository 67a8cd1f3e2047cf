"""What the search of the site knows: every section, as plain text.

The index is a script and no data file, because a page that was opened as a
file may load scripts only. A page loads it when its reader goes to the search
field. It is one list of words, and texts that are written in numbers of that
list, a character each: a quarter less to send, and the browser looks at each
word once to know in which sections it stands.
"""

import json
import re
from collections import Counter
from pathlib import Path

import yaml
from glossary import PAGE as GLOSSARY
from glossary import names_in
from page_sections import TEACHING, Section, sections

LISTS = (GLOSSARY, "book/bibliography", "book/errata")
FILE = "_static/search-index.js"
ALIASES = Path(__file__).with_name("aliases.yml")
OF_SPHINX = (  # what its own search would need
    "searchindex.js",
    "_static/doctools.js",
    "_static/documentation_options.js",
    "_static/language_data.js",
    "_static/searchtools.js",
    "_static/sphinx_highlight.js",
)
WORD = re.compile(r" ?[^\W_]+(?:[-_'’][^\W_]+)*|.", re.S)
FIRST = 0x23  # "#", after the quotation mark, which JSON would escape
BACKSLASH = 0x5C - FIRST
SHORT = 2012  # so many words have codes of one or two bytes
CHAPTER = re.compile(r"/\d\d_\w+\.html$")
ANCHOR = re.compile(r"[^a-z0-9]+")


def vocabulary(texts: list[str]) -> list[str]:
    """All words, the frequent ones first; each brings its space along."""
    counted = Counter(word for text in texts for word in WORD.findall(text))
    words = [word for word, _ in counted.most_common()]
    words = words[:SHORT] + sorted(words[SHORT:])
    return [*words[:BACKSLASH], "", *words[BACKSLASH:]]


def coded(text: str, numbers: dict[str, int]) -> str:
    """A text with a character for each word."""
    return "".join(chr(FIRST + numbers[w]) for w in WORD.findall(text))


def usual_anchor(title: str) -> str:
    """The anchor that most sections with this title have."""
    return ANCHOR.sub("-", title.lower()).strip("-")


def place(section: Section) -> str | int:
    """The anchor; "" is the usual one, and 0 the top of the page."""
    if not section.anchor:
        return 0
    usual = usual_anchor(section.title)
    return "" if section.anchor == usual else section.anchor


def synonyms(known: dict[str, list[str]]) -> dict[str, str]:
    """The other names of each term, and its first one."""
    return {name: all_[0] for name, all_ in known.items() if name != all_[0]}


def read_aliases(root: Path) -> dict[str, str]:
    """What students type, and what the book calls it."""
    own = yaml.safe_load(ALIASES.read_text(encoding="utf-8"))
    return synonyms(names_in(root / f"{GLOSSARY}.md")) | own


def keep_first_uses(pages: list[list[Section]]) -> None:
    """A term belongs to the section that has it first; later it is bold.

    Without this, every chapter that repeats a term would explain it.
    """
    met = set()
    for section in (section for page in pages for section in page):
        again = [term for term in section.terms if term.lower() in met]
        section.bold += again
        section.terms = [t for t in section.terms if t not in again]
        met.update(term.lower() for term in section.terms)


class Index:
    """Gathers the pages of a build, and writes the script."""

    def __init__(self):
        self.pages = {}

    def note(self, app, doctree, docname):
        """Gather a page, before the book adds links of its own to it."""
        known = names_in(Path(app.srcdir, f"{GLOSSARY}.md"))
        found = list(sections(docname, doctree, known))
        number = app.env.toc_secnumbers.get(docname, {}).get("", ())
        label = "".join(f"{n}. " for n in number) + found[0].title
        self.pages[docname] = app.builder.get_target_uri(docname), label, found

    def content(self, aliases: dict[str, str]) -> dict:
        """All of it, in the form in which the browser gets it."""
        pages = [page for _, page in sorted(self.pages.items())]
        keep_first_uses(
            [part for url, _, part in pages if CHAPTER.search(url)]
        )
        found = [section for *_, part in pages for section in part]
        words = vocabulary([text for s in found for text in s.texts])
        numbers = {word: number for number, word in enumerate(words)}
        rows = [
            [number, place(s), round(s.weight, 2)]
            + [coded(text, numbers) for text in s.texts]
            for number, (*_, part) in enumerate(pages)
            for s in part
        ]
        return {
            "pages": [[url, label] for url, label, _ in pages],
            "words": "\n".join(words),
            "sections": rows,
            "aliases": aliases,
        }

    def contents(self):
        """Each page with its sections, but for lists of small entries."""
        for name, (url, label, found) in sorted(self.pages.items()):
            inside = [(s.anchor, s.title) for s in found if s.is_in_contents]
            short = name in LISTS or name.startswith(TEACHING)
            yield url, label, [] if short else inside

    def search_page(self, app):
        """The page of the search, with all that it shows without a script."""
        yield "search", {"contents": list(self.contents())}, "search.html"

    def write(self, app, error):
        """Write the script at the end of a build."""
        if error or app.builder.format != "html":
            return
        content = self.content(read_aliases(Path(app.srcdir)))
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        script = f"globalThis.bookIndex={text};\n"
        Path(app.outdir, FILE).write_text(script, encoding="utf-8")
        for name in OF_SPHINX:
            Path(app.outdir, name).unlink(missing_ok=True)


def without_sphinx(app):
    """Sphinx's own index is not made."""
    app.builder.search = False


def setup_search(app):
    """Register all of it."""
    index = Index()
    app.connect("builder-inited", without_sphinx)
    app.connect("doctree-resolved", index.note, priority=300)
    app.connect("html-collect-pages", index.search_page)
    app.connect("build-finished", index.write)
