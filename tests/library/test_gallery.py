"""kit.gallery: every bug shows, and mending it helps."""

import re

import pytest
import torch

from kit import gallery
from kit.gallery import GALLERY


@pytest.mark.parametrize("bug", GALLERY, ids=lambda bug: bug.name)
def test_the_number_tells_the_two_apart(bug):
    assert bug.number(bug.wrong) > bug.limit >= bug.number(bug.right)
    assert bug.wrong != bug.right and bug.symptom
    links = [bug.facts.get(kind, "") for kind in ("Seen in", "Discussed in")]
    for path in " ".join(links).split():
        assert re.match(r"[\w.-]+/[\w.-]+/((issues|pull)/\d+$|blob/)", path)


def test_each_has_a_name_of_its_own_and_fits_the_page():
    names = [bug.name for bug in GALLERY]
    assert len(set(names)) == len(names)
    assert gallery.bug(names[3]) is GALLERY[3]
    lines = [line for bug in GALLERY for line in bug.wrong.splitlines()]
    assert max(map(len, lines)) <= 79


def test_a_number_that_is_not_offered_is_zero():
    look = gallery.Seen("scale", call="q k v -> out", mask="none", width=3)
    assert look(lambda q, k, v: v) == 0


def test_listeners_are_all_wrong_but_the_first():
    tables = gallery.listeners(5)
    causal = torch.ones(5, 5).tril() > 0
    first, *others = tables.values()
    assert ((first > 0) == causal).all()
    assert all((table[~causal] > 0).any() for table in others)


def test_what_follows_from_what():
    bugs, names, fails, causes = gallery.spread()
    assert len(bugs) == len(fails) == len(causes) >= 18
    assert set().union(*fails) == set(names)
    assert all(
        cause and cause <= fail
        for cause, fail in zip(causes, fails, strict=True)
    )
