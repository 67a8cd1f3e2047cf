"""What the bibliography adds to each work: links, and where it is cited."""

import re
from pathlib import Path

from docutils import nodes

from ..source.chapters import lessons
from .links import link, pieces

PAGE = "book/bibliography"
ADDRESS = re.compile(r"arXiv:(\d{4}\.\d{4,5})|https?://[^\s,]+[^\s,.]")
CITED = re.compile(r"bibliography\.md#([\w-]+)")


def let_links_reach_citations(app, env):
    """Make `bibliography.md#key` a target that MyST links can find."""
    for citation in env.get_domain("cite").citations:
        page = env.metadata[citation.bibliography_key.docname]
        slugs = page.setdefault("myst_slugs", {})
        slugs[citation.key] = (0, citation.citation_id, citation.key)


def pages_by_work(root: Path) -> dict[str, list[tuple[str, str]]]:
    """The chapters that cite each work: what to call them, and where.

    Of a chapter and its deeper pages it is the first one that does.
    """
    places = {}
    for page in lessons(root):
        for key in CITED.findall("\n".join(page.cells)):
            known = places.setdefault(key, {})
            known.setdefault(str(page.number), page.document)
    return {key: [*known.items()] for key, known in places.items()}


def address(found: re.Match):
    """A link to a work of which a text says where it is."""
    url = f"https://arxiv.org/abs/{found[1]}" if found[1] else found[0]
    return nodes.reference("", found[0], refuri=url)


def cited_in(places):
    """`Cited in chapters 2, 11.` with a link for each number."""
    word = "chapter" if len(places) == 1 else "chapters"
    node = nodes.inline("", f" Cited in {word} ", classes=["cited-in"])
    for number, (name, document) in enumerate(places):
        node += [nodes.Text(", " if number else ""), link(name, document)]
    return [node, nodes.Text(".")]


def complete(app, doctree, docname):
    """Add both to each work on the page of the bibliography."""
    if docname != PAGE:
        return
    places = pages_by_work(Path(app.srcdir))
    for citation in doctree.findall(nodes.citation):
        for text in list(citation.findall(nodes.Text)):
            if not isinstance(text.parent, nodes.reference | nodes.label):
                text.parent.replace(text, list(pieces(text, ADDRESS, address)))
        known = [places[key] for key in citation["ids"] if key in places]
        if known:
            citation[-1] += cited_in(known[0])


def setup(app):
    app.connect("env-updated", let_links_reach_citations)
    app.connect("doctree-resolved", complete, priority=400)
