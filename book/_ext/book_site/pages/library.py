"""The reference of lib and kit: the directives `library` and `library-map`.

    ```{library} 2
    ```

stands for everything public in the modules that the chapters of Part II
teach, `{library} helpers` for the modules that no chapter teaches. Signatures
and docstrings are read, not run, so no PyTorch is needed.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import dedent

from docutils import nodes
from griffe import Module, Object
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

from tools.source import taught

from ..source.chapters import Chapter, lessons
from . import reference
from .links import first_places, link, pieces

LOGGER = getLogger(__name__)
PAGE = "book/library_{}"
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
    def lessons(self) -> list[Chapter]:
        return lessons(self.root)

    @cached_property
    def homes(self) -> dict[str, Chapter]:
        """Each module that is taught, and the chapter that first shows it."""
        paths = taught.homes(self.root).items()
        by_path = {page.path: page for page in self.lessons}
        return {full_name(module): by_path[path] for module, path in paths}

    @cached_property
    def works(self) -> set[str]:
        path = self.root / "book" / "references.bib"
        return set(WORK.findall(path.read_text(encoding="utf-8")))

    def of(self, part: str) -> list[Module]:
        """The modules of one page: of a part of the book, or the helpers."""
        wanted = PAGE.format(part)
        names = dict.fromkeys([*self.homes, *self.modules])
        return [self.modules[n] for n in names if self.page(n) == wanted]

    def page(self, module: str) -> str:
        """The document that describes a module."""
        home = self.homes.get(module)
        return PAGE.format(home.part if home else "helpers")

    def shown(self, module: str) -> list[Object]:
        """What the reference shows; constants only if a chapter does."""
        all_of_it = reference.definitions(self.modules[module])
        is_taught = module in self.homes
        return [d for d in all_of_it if is_taught or not d.is_attribute]

    @cached_property
    def anchors(self) -> dict[str, list[tuple[str, str]]]:
        """Each name that a docstring may mention, and where it stands."""
        places = {}
        for module in self.modules:
            page, short = self.page(module), module.partition(".")[2]
            places[module] = [(page, anchor(module))]
            for name in (definition.name for definition in self.shown(module)):
                place = (page, anchor(module, name))
                for known in (name, f"{short}.{name}", f"{module}.{name}"):
                    places.setdefault(known, []).append(place)
        return places

    def place(self, name: str, module: str) -> tuple[str, str] | None:
        """Where a name stands that a docstring of a module mentions."""
        for known in (f"{module}.{name}", name):
            if len(places := self.anchors.get(known, [])) == 1:
                return places[0]
        folder = self.root / "book" / name.replace(".", "/")
        if name.startswith(("lib.", "kit.")) and not folder.is_dir():
            message = "%s names `%s`, which is not there"
            LOGGER.warning(message, module, name)


@dataclass(frozen=True)
class Writer:
    """Makes nodes of a docstring.

    Args:
        library: what its words can lead to.
        module: where it stands.
        own: the names that it uses for its own things, which are no links.
    """

    library: Library
    module: str
    own: tuple[str, ...] = ()

    def inline(self, text: str):
        """A sentence, with its links."""
        return pieces(text, INLINE, self.linked)

    def linked(self, found: re.Match):
        """One piece of code, chapter or work, as a link if it can be one."""
        library = self.library
        if name := found["code"]:
            literal, place = nodes.literal("", name), None
            if name not in self.own:
                place = library.place(name.removesuffix("()"), self.module)
            return link(literal, *place) if place else literal
        if found["work"]:
            key = found["who"].lower() + found["year"]
            is_known = key in library.works
            return link(found["work"], BIBLIOGRAPHY, key) if is_known else None
        for page in library.lessons:
            if page.number == int(found["number"]):
                return link(found["chapter"], page.document)

    def paragraph(self, text: str):
        return nodes.paragraph("", "", *self.inline(" ".join(text.split())))

    def prose(self, text: str):
        """Paragraphs, and code where they are indented."""
        for block in text.split("\n\n"):
            is_code = block.startswith("    ")
            yield code(dedent(block)) if is_code else self.paragraph(block)

    def described(self, definition: Object):
        """The text of a docstring, and its sections as lists."""
        for section in reference.sections(definition):
            kind, content = section.kind.value, section.value
            if kind == "text":
                yield from self.prose(content)
                continue
            label = "Arguments" if kind == "parameters" else kind.title()
            yield nodes.paragraph("", label, classes=["api-label"])
            if kind in ("returns", "yields"):
                (only,) = content
                yield self.paragraph(only.description)
                continue
            items = nodes.definition_list(classes=["api-list"])
            for name, text in reference.entries(section):
                term = nodes.term("", "", nodes.literal("", name))
                definition = nodes.definition("", self.paragraph(text))
                items += nodes.definition_list_item("", term, definition)
            yield items

    def api(self, definition: Object, before: str = ""):
        """The signature of a definition, and its docstring."""
        own = (definition.name, *reference.names(definition))
        shown = code(before + reference.signature(definition))
        yield nodes.container("", shown, classes=["signature"])
        writer = Writer(self.library, self.module, own)
        yield from writer.described(definition)

    def definition(self, definition: Object):
        """A section: signature, docstring, methods, source, chapter."""
        place = anchor(self.module, definition.name)
        section = section_at(place, definition.name)
        section["classes"] = ["api"]
        section += self.api(definition)
        for method in reference.methods(definition):
            box = nodes.container("", classes=["method"])
            box["ids"] = [f"{place}-{method.name}"]
            box += self.api(method, before=".")
            section += box
        line = nodes.paragraph(classes=["api-taught"])
        line["book_taught"] = (self.module, definition.name)
        path = self.module.replace(".", "/")
        begin = f"<summary>Source in {path}.py</summary>"
        section += [
            line,
            raw(f'<details class="api-source">{begin}'),
            code(reference.code(definition)),
            raw("</details>"),
        ]
        return section


def code(text: str):
    return nodes.literal_block(text, text, language="python")


def raw(html: str):
    return nodes.raw("", html, format="html")


def section_at(place: str, name: str):
    title = nodes.title("", "", nodes.literal("", name))
    return nodes.section("", title, ids=[place], names=[])


class LibraryDirective(SphinxDirective):
    """Everything public in the modules of one part."""

    required_arguments = 1

    def run(self):
        library = fresh(self.env)
        sections = []
        for module in library.of(self.arguments[0]):
            writer = Writer(library, module.name)
            section = section_at(anchor(module.name), module.name)
            section += writer.described(module)
            section += map(writer.definition, library.shown(module.name))
            sections.append(section)
        return sections


class LibraryMap(SphinxDirective):
    """A list of all modules: what each is about, and its chapter."""

    def run(self):
        library = fresh(self.env)
        table = nodes.bullet_list(classes=["library-map"])
        taught = [library.modules[name] for name in library.homes]
        for module in [*taught, *library.of("helpers")]:
            name = nodes.literal("", module.name)
            place = library.page(module.name), anchor(module.name)
            summary = reference.summary(module).removesuffix(" Not taught.")
            words = Writer(library, module.name).inline(summary)
            text = nodes.paragraph("", "", link(name, *place), nodes.Text(" "))
            text += list(words)
            table += nodes.list_item("", text)
        return [table]


def fresh(env) -> Library:
    """The library as it is now; its files are what the page is made of."""
    library = Library(Path(env.srcdir))
    for module in library.modules.values():
        env.note_dependency(str(module.filepath))
    env.note_dependency(str(library.root / "_toc.yml"))
    return library


def taught_on(doctree):
    """The definitions that a page shows, as (module, name)."""
    for block in doctree.findall(nodes.literal_block):
        if shown := taught.MARKER.match(block.astext()):
            for name in taught.definitions(block.astext()):
                yield (full_name(shown[1]), name), block


def link_to_chapters(app, doctree, docname):
    """Say below each definition where it is taught."""
    lines = doctree.findall(nodes.paragraph)
    waiting = [line for line in lines if "book_taught" in line]
    places = first_places(app, taught_on) if waiting else {}
    for node in waiting:
        if node["book_taught"] not in places:
            node.parent.remove(node)
            continue
        chapter, section, title = places[node["book_taught"]]
        text = f"Chapter {chapter.number}: {title}"
        target = link(text, chapter.document, section)
        node += [nodes.Text("Taught in "), target, nodes.Text(".")]


def setup(app):
    app.add_directive("library", LibraryDirective)
    app.add_directive("library-map", LibraryMap)
    app.connect("doctree-resolved", link_to_chapters, priority=400)
