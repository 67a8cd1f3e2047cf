"""The reference of the library: what it reads, and what it links."""

import pytest

from book._ext.book_site.pages import library as pages
from book._ext.book_site.pages import reference
from tests.built import ROOT

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
SIGNATURES = {
    "SIZES": 'SIZES = {"a": 1}',
    "f": 'f(\n    q: Float[Tensor, "d"],\n    *rest: int,\n'
    "    n: int = 5_000,\n    **more,\n) -> str",
    "Plain": "Plain(width, *, heads=4)",
    "Fields": "Fields(\n    a: int,\n    names_of_everything: "
    "dict[str, str] = field(default_factory=dict, hash=1),\n)",
}


def test_definitions_are_shown_as_in_the_source(tmp_path):
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "made.py").write_text(SOURCE)
    module = reference.modules(tmp_path)["kit.made"]
    made = {d.name: d for d in reference.definitions(module)}
    shown = {name: reference.signature(d) for name, d in made.items()}
    assert shown == SIGNATURES
    assert reference.names(made["f"]) == ["q", "rest", "n", "more"]
    methods = map(reference.signature, reference.methods(made["Plain"]))
    assert [*methods] == ["__call__(x)", "best -> int"]
    assert reference.code(made["Fields"]).startswith("@dataclass\nclass")
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


@pytest.fixture(scope="module")
def library():
    return pages.Library(ROOT)


def test_what_a_docstring_says_of_arguments_is_of_these(library):
    for module in library.modules.values():
        for definition in reference.definitions(module):
            if not definition.is_function:
                continue
            for section in reference.sections(definition):
                if section.kind.value == "parameters":
                    said = ", ".join(n for n, _ in reference.entries(section))
                    known = reference.names(definition)
                    assert {n.lstrip("*") for n in said.split(", ")} <= {
                        *known
                    }


def test_each_module_is_on_the_page_of_its_part(library):
    parts = ("1", "2", "3", "4", "5", "helpers")
    found = {part: [m.name for m in library.of(part)] for part in parts}
    assert sorted(sum(found.values(), [])) == sorted(library.modules)
    assert {"lib.attention", "lib.heads", "lib.masks"} <= {*found["2"]}


SPLIT, MASK = ("library_2", "heads-split_heads"), ("library_2", "masks")


@pytest.mark.parametrize(
    "text, places, warning",
    [
        ("`split_heads()`", [SPLIT], ""),
        ("`heads.split_heads`", [SPLIT], ""),
        ("see `lib.heads.split_heads` and `lib.masks`", [SPLIT, MASK], ""),
        ("`kit.figures`, `torch.softmax`, `causal_mask`", [], ""),
        ("`lib.masks.no`", [], "lib.heads names `lib.masks.no`"),
        ("Chapter 5, chapter 99", [("05_heads", "")], ""),
        (
            "Vaswani et al. 2017, Nobody 2017.",
            [("bibliography", "vaswani2017")],
            "",
        ),
    ],
)
def test_what_a_docstring_names_is_a_link_or_refused(
    library, caplog, text, places, warning
):
    writer = pages.Writer(library, "lib.heads", ("causal_mask",))
    nodes = writer.inline(text)
    links = [n["to"] for n in nodes if "to" in getattr(n, "attributes", {})]
    assert links == [(f"book/{page}", anchor) for page, anchor in places]
    assert warning in caplog.text and bool(warning) == bool(caplog.records)


def test_the_library_leads_to_the_chapter_that_teaches_it(main):
    section = main("library_1").find(id="softmax-softmax")
    assert section.pre.get_text().startswith("softmax(")
    (line,) = section.select(".api-taught")
    assert line.get_text() == "Taught in Chapter 2: How."
    assert line.a["href"] == "02_two.html#how"
    assert "def softmax(" in section.details.pre.get_text()
    assert not section.details.has_attr("open")
    labels = [label.get_text() for label in section.select(".api-label")]
    assert labels == ["Arguments", "Returns", "Raises"]
    names = [term.get_text() for term in section.select(".api-list dt")]
    assert names == ["x", "dim", "TypeError", "ValueError"]
    assert main("library_helpers").find(id="dates-generate")
    assert not main("library_helpers").select(".api-taught")
    links = {link["href"] for link in main("library").select("li a")}
    assert {"library_1.html#softmax", "library_helpers.html#dates"} <= links
