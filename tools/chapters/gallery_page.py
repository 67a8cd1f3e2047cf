"""The back-matter page book/gallery.md, written from the bugs that run.

`make sync` writes it; a test compares it with a fresh one.
"""

from pathlib import Path

from kit.gallery import FAMILIES, GALLERY, Bug
from tools.source.taught import write_page

PAGE = Path("book", "gallery.md")
HEAD = """\
# Gallery of bugs

{count} bugs that were written in good faith, most of them in public. Each is
cut down to a few lines of our own: the mistake (−) and what was meant (+),
with a number that tells the two apart. This page is written by the program
that runs them: the lines are executed as they stand, and the numbers are what
they gave. `f` is the function that is tried; `attention` and `weights_of` are
those of [chapter 4](04_masks.ipynb), `balancing_loss` is that of
[chapter 18](18_experts.ipynb), the delta rules are those of
[chapter 19](19_million_tokens.ipynb), and `drawn` draws normal numbers.
[Chapter 20](20_bugs.ipynb) tells how to see such things from outside;
`diagnose` looks for all those that show in an attention.

The links lead to the places where a bug was seen: a report, a question, the
change that mended it, or the lines themselves. The code there is longer and
may make the mistake in its own way; much of it has been mended since. Of the
{count} bugs {seen} were seen in public code. {told} say only "Discussed in":
the thread is about behaviour that the project intends and documents, or about
a bug that it does not have. The other {ours} have no link: we have written
them or been shown them ourselves."""


def number(seen: float) -> str:
    """Two digits, which are the same on every machine."""
    if seen == float("inf"):
        return "it raises"
    return f"{seen:.2g}" if abs(seen) > 1e-3 else "0"


def links(words: str, paths: str) -> str:
    """A sentence of links to threads or files on GitHub, if there are any."""
    named = []
    for path in paths.split():
        owner, repository, kind, *_, last = path.split("/")
        last = f", {last}" if kind == "blob" else f" #{last}"
        to = f"https://github.com/{path}"
        named.append(f"[{owner}/{repository}{last}]({to})")
    return f" {words} {', '.join(named)}." if named else ""


def title(name: str) -> str:
    """A heading; code at its beginning stays as it is."""
    is_word = name.split()[0].rstrip(";").isalpha()
    return name[0].upper() + name[1:] if is_word else name


def entry(bug: Bug) -> str:
    """One bug as Markdown."""
    wrong, right = bug.number(bug.wrong), bug.number(bug.right)
    seen = links("Seen in", bug.where) + links("Discussed in", bug.told)
    numbers = f"`{number(wrong)}`, mended `{number(right)}`"
    ask = bug.check if bug.check.endswith("?") else f"{bug.check}."
    return f"""
### {title(bug.name)}

```diff
{bug.lines}```

*{title(bug.symptom)}:* {numbers}. *Ask:* {ask}{seen}"""


def page() -> str:
    """The text of the page; every bug is run."""
    seen = sum(bool(bug.where) for bug in GALLERY)
    told = sum(bool(bug.told) and not bug.where for bug in GALLERY)
    count = len(GALLERY)
    ours = count - seen - told
    lines = [HEAD.format(count=count, seen=seen, told=told, ours=ours)]
    for family in FAMILIES:
        lines.append(f"\n## {family}")
        lines += [entry(bug) for bug in GALLERY if bug.family == family]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(write_page(PAGE, page()))
