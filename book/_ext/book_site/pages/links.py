"""Links between pages that the extension makes itself.

A page is written before it is known where another one lies, so a link keeps
its target until both are there.
"""

from pathlib import Path

from docutils import nodes

from ..source.chapters import chapters


def is_notebook(app, document):
    """Is this page made of a notebook?"""
    return str(app.env.doc2path(document)).endswith(".ipynb")


def link(text, document, anchor="", **options):
    """A link to a page of the book, or to a place on it."""
    node = nodes.reference("", "", internal=True, **options)
    node["to"] = (document, anchor)
    node += nodes.Text(text) if isinstance(text, str) else text
    return node


def pieces(text, pattern, made):
    """A text as nodes, with what `made` makes of a match, if anything."""
    end = 0
    for found in pattern.finditer(text):
        if (node := made(found)) is not None:
            yield nodes.Text(text[end : found.start()])
            yield node
            end = found.end()
    yield nodes.Text(text[end:])


def shortened(text, longest):
    """Its beginning, up to the end of a word."""
    if len(text) <= longest:
        return text
    return text[:longest].rsplit(" ", 1)[0] + " …"


def is_within(node, kinds):
    """Does it stand in a node of one of these kinds?"""
    while node := node.parent:
        if isinstance(node, kinds):
            return True
    return False


def section_of(node):
    """The section in which a node stands: its place and its title."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return node["ids"][0], node[0].astext()


def note_places(app, kind, marks):
    """Note in which section a page first has each of these named nodes."""
    found = app.env.metadata[app.env.docname][kind] = {}
    for name, node in marks:
        found.setdefault(name, section_of(node))


def first_places(app, kind):
    """Where the chapters first have what they note, as (chapter, section)."""
    found = {}
    for chapter in chapters(Path(app.srcdir)):
        noted = app.env.metadata[chapter.document].get(kind, {})
        for key, place in noted.items():
            found.setdefault(key, (chapter, *place))
    return found


def link_first_uses(marks, document, kind):
    """Let the first mark of each place lead to it.

    Args:
        marks: nodes, with the place on the page, what a pointer shows, more.
        document: the page with the places.
    """
    linked = set()
    for node, (place, title, *_) in marks:
        if place not in linked:
            linked.add(place)
            target = link("", document, place, reftitle=title, classes=[kind])
            node.replace_self(target)
            target += node


def resolve(app, doctree, docname):
    """Write the address into every link of a page."""
    for node in doctree.findall(nodes.reference):
        if "to" in node:
            document, anchor = node["to"]
            page = ""
            if document != docname:
                page = app.builder.get_relative_uri(docname, document)
            node["refuri"] = f"{page}#{anchor}" if anchor else page


def setup(app):
    app.connect("doctree-resolved", resolve)
