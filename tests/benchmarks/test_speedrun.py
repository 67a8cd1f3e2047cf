"""The race is fair, and its page says what was measured."""

import json

import pytest
import torch

from benchmarks import date_model, speedrun
from benchmarks.speedrun import Entry, race, recipe, score, yardstick
from kit.dates import batches, characters, generate, splits
from lib.training import Recipe, Trainer
from lib.transformer import Transformer, TransformerConfig

DAYS = splits(held_out=36_000)  # leaves 1,049 to train on


@pytest.fixture
def entry():
    examples = generate(DAYS["train"], 24)
    source = characters([e.text for e in examples])
    target = characters([e.iso for e in examples])
    torch.manual_seed(0)
    config = TransformerConfig(
        len(source), len(target), 8, 2, 8, 1, 1, 0.0, max_length=64
    )
    trainer = Trainer(Transformer(config), Recipe(lambda step: 1e-3))
    data = batches(examples, source, target, 8)
    return Entry(trainer, data, 7, source, target)


def test_a_race_stops_at_the_goal_and_evaluates_in_between(entry, monkeypatch):
    seen = []

    def share(entry, data, goal):
        seen.append(len(entry.trainer.losses))
        return {2: 0.1, 4: 0.6}[seen[-1]]

    monkeypatch.setattr(speedrun, "share", share)
    beside = yardstick(DAYS["train"])
    found = race(entry, beside, DAYS["validation"][:30], goal=0.5, every=2)
    assert seen == [2, 4] and len(beside.trainer.losses) == 2
    assert found["steps"] == 4 and found["exact match"] == 0.6
    assert found["reached"] and found["CPU s"] >= 0


def test_a_race_that_is_lost_ends_with_the_last_step(entry):
    beside = yardstick(DAYS["train"])
    found = race(entry, beside, DAYS["validation"][:30], goal=0.5, every=3)
    assert found["steps"] == 7 == len(entry.trainer.losses)
    assert not found["reached"] and found["exact match"] < 0.5


def test_evaluation_and_preparation_do_not_count(entry, monkeypatch):
    """A clock that only training moves on."""
    now = [0.0]
    monkeypatch.setattr(speedrun.time, "process_time", lambda: now[0])

    def train(trainer, batches, until):
        now[0] += 2.0 * (until - len(trainer.losses))
        trainer.losses += [1.0] * (until - len(trainer.losses))

    def share(entry, data, goal):
        now[0] += 100.0
        return 0.0

    monkeypatch.setattr(speedrun, "train", train)
    monkeypatch.setattr(speedrun, "share", share)
    beside = yardstick(DAYS["train"])
    found = race(entry, beside, DAYS["validation"][:30], every=3)
    assert found["CPU s"] == 14.0 and found["yardsticks"] == 7


def test_all_validation_days_are_asked_only_if_the_first_look_good(
    entry, monkeypatch
):
    asked = []

    def exact_match(model, data):
        assert model is entry.trainer.average
        asked.append(sum(len(batch.source) for batch in data))
        return answers.pop()

    monkeypatch.setattr(speedrun, "exact_match", exact_match)
    unseen = batches(
        generate(DAYS["validation"], 1_100), entry.source, entry.target, 250
    )
    answers = [0.97]
    assert speedrun.share(entry, unseen, 0.995) == 0.97 and asked == [500]
    answers = [0.994, 0.981]
    assert speedrun.share(entry, unseen, 0.995) == 0.994
    assert asked == [500, 500, 1100]


def test_a_seed_that_does_not_arrive_is_the_slowest():
    runs = [{"CPU s": s, "reached": s > 9} for s in (1, 2, 10, 11, 12)]
    assert score(runs, "CPU s") == 12
    runs[2]["reached"] = False
    assert score(runs, "CPU s") is None


def test_a_racer_comes_from_a_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def recipe(days, seed):\n    return len(days), seed\n")
    assert speedrun.load(path)([1, 2], 7) == (2, 7)


def test_the_recipe_of_the_book_is_the_one_of_make_model(monkeypatch):
    asked, steps = [], range(1, date_model.STEPS + 1)
    examples = generate(DAYS["train"], 600)

    def few(days, count):
        asked.append(count)
        return examples

    monkeypatch.setattr(speedrun, "generate", few)
    racer = recipe(DAYS["train"], 3)
    assert asked == [date_model.STEPS * date_model.SIZE]
    assert racer.steps == date_model.STEPS
    rates = [racer.trainer.recipe.rate(step) for step in steps]
    assert rates == [date_model.rate(step) for step in steps]
    model = racer.trainer.model
    sizes = len(racer.source), len(racer.target)
    assert model.config == date_model.config(*sizes)
    torch.manual_seed(3)
    again = Transformer(model.config).state_dict()
    assert all((again[k] == v).all() for k, v in model.state_dict().items())
    batch = date_model.SIZE, date_model.BUCKET
    data = batches(examples, racer.source, racer.target, *batch)
    for one, other in zip(racer.batches, data, strict=True):
        assert one.source.equal(other.source)


def test_the_page_of_the_race_has_the_record():
    record = json.loads(speedrun.RESULT.read_text(encoding="utf-8"))
    assert record["threads"] == 1 and record["torch"]
    for name, median in record["median"].items():
        assert median == score(record["runs"], name) is not None
    page = speedrun.RESULT.parents[1] / "SPEEDRUN.md"
    rows = page.read_text(encoding="utf-8").split("\n|")[1:]
    (own,) = (row for row in rows if "the book" in row)
    cells = [cell.strip() for cell in own.split("|")]
    assert str(record["median"]["yardsticks"]) in cells
    assert f"{record['median']['CPU s']:.1f}" in cells
    assert record["date"] in cells and record["machine"] in own
    arrived = sum(run["reached"] for run in record["runs"])
    assert f"{arrived} of {len(record['runs'])}" in cells
