"""Links between pages that the extension makes itself.

A page is written before it is known where another one lies, so a link keeps
its target until both are there.
"""

from docutils import nodes


def link(text, document, anchor="", **options):
    """A link to a page of the book, or to a place on it."""
    node = nodes.reference("", "", internal=True, **options)
    node["to"] = (document, anchor)
    node += nodes.Text(text) if isinstance(text, str) else text
    return node


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
