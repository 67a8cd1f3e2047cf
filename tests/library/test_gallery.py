"""kit.gallery: every bug shows, and mending it helps."""

import re

import pytest

from kit.gallery import GALLERY


@pytest.mark.parametrize("bug", GALLERY, ids=lambda bug: bug.name)
def test_the_number_tells_the_two_apart(bug):
    assert bug.number(bug.wrong) > bug.limit >= bug.number(bug.right)
    assert bug.wrong != bug.right and bug.check and bug.symptom
    for path in f"{bug.where} {bug.told}".split():
        assert re.match(r"[\w.-]+/[\w.-]+/((issues|pull)/\d+$|blob/)", path)


def test_each_has_a_name_of_its_own_and_fits_the_page():
    assert len({bug.name for bug in GALLERY}) == len(GALLERY)
    lines = [line for bug in GALLERY for line in bug.wrong.splitlines()]
    assert max(map(len, lines)) <= 79
