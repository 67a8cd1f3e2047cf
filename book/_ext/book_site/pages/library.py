"""The reference of lib and kit: the directives `library` and `library-map`.

    ```{library} 2
    ```

stands for everything public in the modules that the chapters of Part II
teach, `{library} helpers` for the modules that no chapter teaches. Signatures
and docstrings are read, not run, so no PyTorch is needed.
"""

import re
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from textwrap import dedent

from docutils import nodes
from griffe import Module, Object
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

from tools.source.taught import MARKER, definitions

from ..source.chapters import Chapter, chapters, homes
from . import reference
from .links import link, pieces, section_of

LOGGER = getLogger(__name__)
PAGE = "book/library_{}"
LABELS = {"parameters": "Arguments"}
BIBLIOGRAPHY = "book/bibliography"
# What a docstring says that can be a link: code, a chapter, a work.
INLINE = re.compile(
    r"`(?P<code>[^`]+)`|(?P<chapter>[Cc]hapter (?P<number>\d+))"
    r"|(?P<work>(?P<who>[A-Z]\w+)(?: et al\.| and \w+)? \(?(?P<year>\d{4})\)?)"
)
WORK = re.compile(r"^@\w+\{([^,\s]+),", re.MULTILINE)


def anchor(module: str, *names: str) -> str:
    """The place of a module, or of a name in it, on its page."""
    return "-".join([*module.split(".")[1:], *names])


def full_name(module: str) -> str:
    """The name to import a module by that a cell names as a file of lib."""
    return f"lib.{module.replace('/', '.')}"


@dataclass
class Library:
    """The modules of lib and kit, and the chapters that teach them."""

    root: Path

    @cached_property
    def modules(self) -> dict[str, Module]:
        return reference.modules(self.root / "book")

    @cached_property
    def chapters(self) -> list[Chapter]:
        return chapters(self.root)

    @cached_property
    def homes(self) -> dict[str, Chapter]:
        taught = homes(self.chapters)
        return {full_name(module): home for module, home in taught.items()}

    @cached_property
    def works(self) -> set[str]:
        path = self.root / "book" / "references.bib"
        return set(WORK.findall(path.read_text(encoding="utf-8")))

    def of(self, part: str) -> list[Module]:
        """The modules of one page: of a part of the book, or the helpers."""
        if part == "helpers":
            names = [name for name in self.modules if name not in self.homes]
        else:
            names = [n for n, c in self.homes.items() if str(c.part) == part]
        return [self.modules[name] for name in names]

    def page(self, module: str) -> str:
        """The document that describes a module."""
        home = self.homes.get(module)
        return PAGE.format(home.part if home else "helpers")

    def shown(self, module: str) -> list[Object]:
        """What the reference shows; constants only if a chapter does."""
        return [
            definition
            for definition in reference.definitions(self.modules[module])
            if module in self.homes or not definition.is_attribute
        ]

    @cached_property
    def anchors(self) -> dict[str, list[tuple[str, str]]]:
        """Each name that a docstring may mention, and where it stands."""
        found = {}
        for module in self.modules:
            page = self.page(module)
            short = module.partition(".")[2]
            found.setdefault(module, []).append((page, anchor(module)))
            for definition in self.shown(module):
                name = definition.name
                place = (page, anchor(module, name))
                for known in (name, f"{short}.{name}", f"{module}.{name}"):
                    found.setdefault(known, []).append(place)
        return found

    def place(self, name: str, module: str) -> tuple[str, str] | None:
        """Where a name stands that a docstring of a module mentions.

        Raises:
            LookupError: it names a part of `lib` or `kit` that is not there.
        """
        name = name.removesuffix("()")
        for known in (f"{module}.{name}", name):
            if len(places := self.anchors.get(known, [])) == 1:
                return places[0]
        if (
            name.startswith(("lib.", "kit."))
            and not (self.root / "book" / name.replace(".", "/")).is_dir()
        ):
            raise LookupError(name)


@dataclass(frozen=True)
class Speaker:
    """Whose docstring it is, and which names it uses for its own things."""

    module: str
    own: frozenset[str] = frozenset()


def inline(library: Library, text: str, speaker: Speaker):
    """A docstring's sentence, with its links."""
    made = partial(marked, library, speaker)
    return pieces(text, INLINE, made)


def marked(library: Library, speaker: Speaker, found: re.Match):
    """One piece of code, chapter or work, as a link if it can be one."""
    if found["code"]:
        return named(library, speaker, found["code"])
    if found["chapter"]:
        number = int(found["number"])
        if number <= len(library.chapters):
            chapter = library.chapters[number - 1]
            return link(found["chapter"], chapter.document)
    elif found["work"]:
        key = found["who"].lower() + found["year"]
        if key in library.works:
            return link(found["work"], BIBLIOGRAPHY, key)


def named(library: Library, speaker: Speaker, code: str):
    """A piece of code, as a link if it is a name of the library."""
    literal, place = nodes.literal("", code), None
    if code not in speaker.own:
        try:
            place = library.place(code, speaker.module)
        except LookupError:
            said = "%s names `%s`, which is not there"
            LOGGER.warning(said, speaker.module, code)
    return link(literal, *place) if place else literal


def paragraph(library: Library, text: str, speaker: Speaker):
    node = nodes.paragraph()
    node += list(inline(library, " ".join(text.split()), speaker))
    return node


def described(library: Library, definition: Object, speaker: Speaker):
    """The text of a docstring, and its sections as lists."""
    for section in reference.sections(definition):
        content = section.value
        if section.kind.value == "text":
            yield from prose(library, content, speaker)
            continue
        label = LABELS.get(section.kind.value, section.kind.value.title())
        yield nodes.paragraph("", label, classes=["api-label"])
        if section.kind.value in ("returns", "yields"):
            (only,) = content
            yield paragraph(library, only.description, speaker)
            continue
        items = nodes.definition_list(classes=["api-list"])
        for name, text in reference.entries(section):
            items += nodes.definition_list_item(
                "",
                nodes.term("", "", nodes.literal("", name)),
                nodes.definition("", paragraph(library, text, speaker)),
            )
        yield items


def prose(library: Library, text: str, speaker: Speaker):
    """Paragraphs, and code where they are indented."""
    for block in text.split("\n\n"):
        if block.startswith("    "):
            yield code(dedent(block))
        else:
            yield paragraph(library, block, speaker)


def code(text: str, *classes: str):
    return nodes.literal_block(
        text, text, language="python", classes=[*classes]
    )


def folded(summary: str, *content):
    """A box that opens by a click, without a script."""
    start = f'<details class="api-source"><summary>{summary}</summary>'
    return [
        nodes.raw("", start, format="html"),
        *content,
        nodes.raw("", "</details>", format="html"),
    ]


def signature(text: str):
    return nodes.container("", code(text), classes=["signature"])


def speaker_of(definition: Object, module: Module) -> Speaker:
    """Its name and its parameters' are not links in its own docstring."""
    names = (definition.name, *reference.names(definition))
    return Speaker(module.name, frozenset(names))


def described_definition(library, module: Module, definition: Object):
    """A section: signature, docstring, methods, source, chapter."""
    place = anchor(module.name, definition.name)
    speaker = speaker_of(definition, module)
    title = nodes.title("", "", nodes.literal("", definition.name))
    section = nodes.section("", title, ids=[place], names=[])
    section["classes"] = ["api"]
    section += signature(reference.signature(definition))
    section += list(described(library, definition, speaker))
    for method in reference.methods(definition):
        box = nodes.container("", classes=["method"])
        box["ids"] = [f"{place}-{method.name}"]
        box += signature(f".{reference.signature(method)}")
        box += list(described(library, method, speaker_of(method, module)))
        section += box
    taught = nodes.paragraph(classes=["api-taught"])
    taught["book_taught"] = (module.name, definition.name)
    section += taught
    source = code(reference.code(definition))
    section += folded(f"Source in {module.name.replace('.', '/')}.py", source)
    return section


def described_module(library: Library, module: Module):
    name = nodes.literal("", module.name)
    section = nodes.section("", nodes.title("", "", name))
    section["ids"], section["names"] = [anchor(module.name)], []
    section += list(described(library, module, Speaker(module.name)))
    for definition in library.shown(module.name):
        section += described_definition(library, module, definition)
    return section


class LibraryDirective(SphinxDirective):
    """Everything public in the modules of one part."""

    required_arguments = 1

    def run(self):
        library = fresh(self.env)
        return [
            described_module(library, module)
            for module in library.of(self.arguments[0])
        ]


class LibraryMap(SphinxDirective):
    """A list of all modules: what each is about, and its chapter."""

    def run(self):
        library = fresh(self.env)
        taught = [library.modules[name] for name in library.homes]
        table = nodes.bullet_list(classes=["library-map"])
        for module in [*taught, *library.of("helpers")]:
            text = nodes.paragraph()
            text += link(
                nodes.literal("", module.name),
                library.page(module.name),
                anchor(module.name),
            )
            text += nodes.Text(" ")
            summary = reference.summary(module).removesuffix(" Not taught.")
            text += list(inline(library, summary, Speaker(module.name)))
            table += nodes.list_item("", text)
        return [table]


def fresh(env) -> Library:
    """The library as it is now; its files are what the page is made of."""
    library = Library(Path(env.srcdir))
    for module in library.modules.values():
        env.note_dependency(str(module.filepath))
    env.note_dependency(str(library.root / "_toc.yml"))
    return library


def note_definitions(app, doctree):
    """Note in which section of a chapter each definition is taught."""
    taught = {}
    for block in doctree.findall(nodes.literal_block):
        if shown := MARKER.match(block.astext()):
            for name in definitions(block.astext()):
                key = full_name(shown[1]), name
                taught.setdefault(key, section_of(block))
    if taught:
        app.env.metadata[app.env.docname]["book_taught"] = taught


def link_to_chapters(app, doctree, docname):
    """Say below each definition where it is taught."""
    waiting = [
        p for p in doctree.findall(nodes.paragraph) if "book_taught" in p
    ]
    if not waiting:
        return
    found = {}
    for chapter in chapters(Path(app.srcdir)):
        taught = app.env.metadata[chapter.document].get("book_taught", {})
        for key, (section, title) in taught.items():
            text = f"Chapter {chapter.number}: {title}"
            found.setdefault(key, (text, chapter.document, section))
    for node in waiting:
        if target := found.get(node["book_taught"]):
            node += [nodes.Text("Taught in "), link(*target), nodes.Text(".")]
        else:
            node.parent.remove(node)


def setup(app):
    app.add_directive("library", LibraryDirective)
    app.add_directive("library-map", LibraryMap)
    app.connect("doctree-read", note_definitions)
    app.connect("doctree-resolved", link_to_chapters, priority=400)
