"""The reference of the library: what it reads, and what it links."""

import pytest

from book._ext.book_site.pages import library as pages
from book._ext.book_site.pages import reference
from tests.extension.conftest import ROOT, soup_of
from tools.source import taught

SOURCE = '''\
from x import y
SIZES = {"a": 1}  # of things
_hidden = 3


def f(q: Float[
    Tensor, "d",
], *rest: int, n: int = 5_000, **more) -> str:
    """What it does,
    in two lines.

    More of it, see `other`.

        call(it)  # an example

    Args:
        q: the first,
            on two lines.
        y, z: the others.
        **more: options.

    Returns:
        Something of
        some shape.

    Raises:
        ValueError, TypeError: it is wrong.
    """


class Plain(nn.Module):
    def __init__(self, width, *, heads=4) -> None:
        self.width = width

    def __call__(self, x):
        """Call it."""

    def say_nothing(self):
        pass

    @property
    def best(self) -> int:
        """The best."""

    def _inside(self):
        """Not public."""


@dataclass
class Fields:
    a: int
    names_of_everything: dict[str, str] = field(default_factory=dict, hash=1)
'''


@pytest.fixture
def made(tmp_path):
    """The definitions of a module, by name."""
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "made.py").write_text(SOURCE)
    module = reference.modules(tmp_path)["kit.made"]
    return {d.name: d for d in reference.definitions(module)}


def test_signatures_stand_as_in_the_source(made):
    assert [*made] == ["SIZES", "f", "Plain", "Fields"]
    shown = {name: reference.signature(d) for name, d in made.items()}
    assert shown == {
        "SIZES": 'SIZES = {"a": 1}',
        "f": 'f(\n    q: Float[Tensor, "d"],\n    *rest: int,\n'
        "    n: int = 5_000,\n    **more,\n) -> str",
        "Plain": "Plain(width, *, heads=4)",
        "Fields": "Fields(\n    a: int,\n    names_of_everything: "
        "dict[str, str] = field(default_factory=dict, hash=1),\n)",
    }
    assert reference.names(made["f"]) == ["q", "rest", "n", "more"]
    methods = map(reference.signature, reference.methods(made["Plain"]))
    assert [*methods] == ["__call__(x)", "best -> int"]
    assert reference.code(made["Fields"]).startswith("@dataclass\nclass")


def test_a_docstring_is_taken_apart(made):
    text, args, returns, raises = reference.sections(made["f"])
    assert reference.summary(made["f"]) == "What it does, in two lines."
    assert text.value.endswith("`other`.\n\n    call(it)  # an example")
    assert [(n, " ".join(t.split())) for n, t in reference.entries(args)] == [
        ("q", "the first, on two lines."),
        ("y, z", "the others."),
        ("**more", "options."),
    ]
    assert returns.value[0].description == "Something of\nsome shape."
    errors = [("ValueError, TypeError", "it is wrong.")]
    assert reference.entries(raises) == errors
    assert reference.sections(made["SIZES"]) == []


@pytest.fixture(scope="module")
def library():
    return pages.Library(ROOT)


def test_what_a_docstring_says_of_arguments_is_of_these(library):
    for module in library.modules.values():
        found = reference.definitions(module)
        for definition in (one for one in found if one.is_function):
            known = reference.names(definition)
            for section in reference.sections(definition):
                if section.kind.value == "parameters":
                    entries = reference.entries(section)
                    said = {n for e, _ in entries for n in e.split(", ")}
                    assert {n.lstrip("*") for n in said} <= {*known}


def test_each_module_is_on_the_page_of_its_part(library):
    parts = ("1", "2", "3", "4", "5", "helpers")
    found = {part: [m.name for m in library.of(part)] for part in parts}
    assert sorted(sum(found.values(), [])) == sorted(library.modules)
    assert {"lib.attention", "lib.heads", "lib.masks"} <= set(found["2"])
    homes = {name: chapter.path for name, chapter in library.homes.items()}
    known = taught.homes(ROOT).items()
    assert homes == {pages.full_name(name): path for name, path in known}


def test_names_in_docstrings_are_found_or_refused(library, caplog):
    heads = ("book/library_2", "heads-split_heads")
    for name in (
        "split_heads()",
        "heads.split_heads",
        "lib.heads.split_heads",
    ):
        assert library.place(name, "lib.masks") == heads
    assert library.place("lib.heads", "lib.masks") == (
        "book/library_2",
        "heads",
    )
    assert library.place("kit.figures", "lib.masks") is None
    assert library.place("torch.softmax", "lib.masks") is None
    speaker = pages.Speaker("lib.masks", frozenset({"causal_mask"}))
    made = pages.inline(library, "`causal_mask`, `lib.masks.no`", speaker)
    assert not any("to" in getattr(n, "attributes", {}) for n in made)
    (record,) = caplog.records  # and a warning fails the build
    assert "lib.masks.no" in record.getMessage()


def test_chapters_and_works_in_docstrings_are_links(library):
    text = "Chapter 5, chapter 99; Vaswani et al. 2017, Nobody 2017."
    made = pages.inline(library, text, pages.Speaker("lib.heads"))
    links = [n for n in made if "to" in getattr(n, "attributes", {})]
    assert {link.astext(): link["to"] for link in links} == {
        "Chapter 5": ("book/05_heads", ""),
        "Vaswani et al. 2017": ("book/bibliography", "vaswani2017"),
    }


def test_the_library_leads_to_the_chapter_that_teaches_it(small):
    site = small / "_build" / "html" / "book"
    section = soup_of(site / "library_1.html").find(id="softmax-softmax")
    assert section.pre.get_text().startswith("softmax(")
    (line,) = section.select(".api-taught")
    assert line.get_text() == "Taught in Chapter 2: How."
    assert line.a["href"] == "02_two.html#how"
    assert "def softmax(" in section.details.pre.get_text()
    assert not section.details.has_attr("open")
    labels = [label.get_text() for label in section.select(".api-label")]
    assert labels == ["Arguments", "Returns", "Raises"]
    helpers = soup_of(site / "library_helpers.html").main
    assert helpers.find(id="dates-generate") and not helpers.select(
        ".api-taught"
    )
    links = soup_of(site / "library.html").main.select("li a")
    known = {"library_1.html#softmax", "library_helpers.html#dates"}
    assert known <= {link["href"] for link in links}
