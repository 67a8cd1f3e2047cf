"""What ran on which GPU: the directive `gpu-reports`, from reports/*.json.

`make test-gpu` writes a report. Whether a notebook has changed since is found
out each time the pages are built, so the page cannot grow old unnoticed.
"""

import hashlib
import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ..source.chapters import chapters
from .links import link

NONE = (
    "No report of a GPU has been committed yet. Until there is one, take it "
    "that these pages ran on a CPU only."
)
VERSIONS = {
    "date": "Date",
    "commit": "Commit",
    "python": "Python",
    "torch": "PyTorch",
    "cuda": "CUDA",
    "matplotlib": "matplotlib",
    "figures": "Figures",
}


def code_hash(cells: list[str]) -> str:
    """SHA-256 of the code of a notebook, as the report has it."""
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def code_of(path: Path) -> list[str]:
    """The code of a notebook's cells."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]


def read(root: Path) -> list[dict]:
    """All reports, the newest first."""
    paths = sorted(root.glob("reports/*.json"))
    reports = [json.loads(p.read_text(encoding="utf-8")) for p in paths]
    return sorted(reports, key=lambda report: report["date"], reverse=True)


def passed(counts: dict) -> str:
    """`12 of 12`: how many cells or tests passed."""
    return f"{counts['passed']} of {counts['passed'] + counts['failed']}"


def state(chapter, report: dict) -> tuple[str, str]:
    """What a report says of a chapter: cells that passed, and since then."""
    counts = report["notebooks"].get(chapter.path.name)
    if not counts:
        return "–", "not there yet"
    same = counts["code_sha256"] == code_hash(code_of(chapter.path))
    return passed(counts), "unchanged" if same else "changed"


def table(*rows, head=()):
    """A table; an entry is a text or a node."""
    columns = len(head or rows[0])
    group = nodes.tgroup("", cols=columns)
    group += [nodes.colspec(colwidth=1) for _ in range(columns)]
    if head:
        group += nodes.thead("", row(head))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group)


def row(entries):
    cells = nodes.row()
    for entry in entries:
        text = nodes.Text(entry) if isinstance(entry, str) else entry
        cells += nodes.entry("", nodes.paragraph("", "", text))
    return cells


def section(report: dict, root: Path):
    """One device: versions, tests, and every chapter."""
    device = report["device"]
    title = nodes.title("", device)
    found = nodes.section("", title, ids=[nodes.make_id(device)], names=[])
    facts = [
        (label, str(report[name])[:12] if name == "commit" else report[name])
        for name, label in VERSIONS.items()
        if report.get(name)
    ]
    facts.append(("Unit tests that passed", passed(report["library"])))
    found += table(*facts)
    rows = [
        (link(f"{c.number}. {c.title}", c.document), *state(c, report))
        for c in chapters(root)
    ]
    found += table(*rows, head=("Chapter", "Cells that passed", "Since then"))
    return found


class ReportsDirective(SphinxDirective):
    """A section for each report; a sentence where there is none."""

    def run(self):
        root = Path(self.env.srcdir)
        for path in [*root.glob("reports/*.json"), root / "_toc.yml"]:
            self.env.note_dependency(str(path))
        for chapter in chapters(root):
            self.env.note_dependency(str(chapter.path))
        reports = read(root)
        if not reports:
            return [nodes.paragraph("", NONE)]
        return [section(report, root) for report in reports]


def setup(app):
    app.add_directive("gpu-reports", ReportsDirective)
