"""Days with the same characters, and the models that cannot tell them."""

import json
from datetime import date

from benchmarks import bags


def test_days_with_the_same_characters_share_a_bag():
    count = bags.sizes()
    assert sum(count.values()) == 73_049
    assert count[bags.bag(date(2019, 3, 3))] == 10
    assert bags.bag(date(2019, 3, 3)) == bags.bag(date(1902, 3, 3))
    assert bags.bag(date(2019, 3, 3)) != bags.bag(date(2019, 4, 3))
    days = [date(2019, 3, 3), date(2022, 2, 22)]
    found = bags.by_size(days, ["2019-03-03", "2022-02-12"])
    assert found[10] == [1, 1] and sum(n for _, n in found.values()) == 2
    assert [e.text for e in bags.texts(days)] == [
        "March 3, 2019",
        "22. Februar 2022",
    ]


def test_the_models_without_positions_are_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(bags, "RESULT", tmp_path / "bags.json")
    monkeypatch.setattr(bags, "SEEDS", 1)
    bags.main(held=3, steps=2)
    (run,) = json.loads(bags.RESULT.read_text())["runs"]
    assert sum(asked for _, asked in run.values()) == 3
