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

    @property
    def best(self) -> int:
        """The best."""


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
    _, args, returns, raises = reference.sections(made["f"])
    assert reference.summary(made["f"]) == "What it does, in two lines."
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
