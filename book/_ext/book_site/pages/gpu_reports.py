"""What ran on which GPU: the directive `gpu-reports`, from reports/*.json.

`make test-gpu` writes a report. Whether a notebook has changed since is found
out each time the pages are built, so the page cannot grow old unnoticed.
"""

import hashlib
import json
from pathlib import Path

from sphinx.util.docutils import SphinxDirective

from ..source.chapters import chapters

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


def code_hash(path: Path) -> str:
    """SHA-256 of the code of a notebook, as the report has it."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def passed(counts: dict) -> str:
    """`12 of 12`: how many cells or tests passed."""
    return f"{counts['passed']} of {counts['passed'] + counts['failed']}"


def state(chapter, report: dict) -> str:
    """What a report says of a chapter: cells that passed, and since then."""
    counts = report["notebooks"].get(chapter.path.name)
    if not counts:
        return "– | not there yet"
    is_same = counts["code_sha256"] == code_hash(chapter.path)
    return f"{passed(counts)} | {'unchanged' if is_same else 'changed'}"


def section(report: dict, book: list) -> str:
    """One device: versions, tests, and every chapter."""
    said = report | {"commit": report.get("commit", "")[:12]}
    lines = [
        f"## {report['device']}\n",
        "| Report | |\n|---|---|",
        *(f"| {VERSIONS[n]} | {said[n]} |" for n in VERSIONS if said.get(n)),
        f"| Unit tests that passed | {passed(report['library'])} |\n",
        "| Chapter | Cells that passed | Since then |\n|---|---|---|",
    ]
    for chapter in book:
        title = f"{chapter.number}. {chapter.title}"
        link = f"[{title}]({chapter.path.name})"
        lines.append(f"| {link} | {state(chapter, report)} |")
    return "\n".join(lines) + "\n"


def read(paths: list[Path]) -> list[dict]:
    """The reports, the newest first."""
    reports = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return sorted(reports, key=lambda report: report["date"], reverse=True)


class ReportsDirective(SphinxDirective):
    """A section for each report, the newest first, or a sentence."""

    def run(self):
        root = Path(self.env.srcdir)
        paths, book = sorted(root.glob("reports/*.json")), chapters(root)
        made_of = [*paths, root / "_toc.yml", *(c.path for c in book)]
        for path in made_of:
            self.env.note_dependency(str(path))
        sections = [section(report, book) for report in read(paths)]
        text = "\n".join(sections) or NONE
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app):
    app.add_directive("gpu-reports", ReportsDirective)
