"""The race is fair, and its page says what was measured."""

import json

import pytest
import torch

from benchmarks import date_model, records, speedrun, timing
from benchmarks.speedrun import race, recipe, score, yardstick
from kit.dates import generate, splits
from lib.transformer import Transformer

DAYS = splits(held_out=36_000)  # leaves 1,049 to train on


@pytest.mark.parametrize(
    ("shares", "steps"), [((0.1, 0.6, 0.7), 6), ((0.1, 0.2, 0.3), 7)]
)
def test_a_race_ends_at_the_goal_or_the_last_step(shares, steps, monkeypatch):
    """Evaluation does not count: here only training moves the clock on."""
    now, left = [0.0], list(shares)
    entry, beside = (yardstick(DAYS["train"][:9]) for _ in range(2))
    entry = entry._replace(steps=7)

    def train(trainer, batches, until):
        now[0] += 2.0 * (until - len(trainer.losses))
        trainer.losses += [1.0] * (until - len(trainer.losses))

    def exact_match(model, data):
        assert model is entry.trainer.average
        assert sum(len(batch.source) for batch in data) == 30
        now[0] += 100.0
        return left.pop(0)

    monkeypatch.setattr(timing.time, "process_time", lambda: now[0])
    monkeypatch.setattr(speedrun, "train", train)
    monkeypatch.setattr(speedrun, "exact_match", exact_match)
    monkeypatch.setattr(speedrun, "EVERY", 3)
    monkeypatch.setattr(speedrun, "GOAL", 0.5)
    found = race(entry, beside, DAYS["validation"][:30])
    assert len(beside.trainer.losses) == 3 - len(left)
    assert found == {
        "steps": steps,
        "CPU s": 2.0 * steps,
        "exact match": shares[2 - len(left)],
        "reached": steps == 6,
        "yardsticks": steps,
    }


def test_a_seed_that_does_not_arrive_is_the_slowest():
    runs = [{"CPU s": s, "reached": s > 9} for s in (1, 2, 10, 11, 12)]
    assert score(runs, "CPU s") == 12
    runs[2]["reached"] = False
    assert score(runs, "CPU s") is None


def test_the_recipe_of_the_book_is_the_one_of_make_model(monkeypatch):
    few, steps, asked = generate(DAYS["train"], 600), date_model.STEPS, []

    def drawn(days, count=None):
        asked.append(count)
        return few

    for module in (date_model, speedrun):
        monkeypatch.setattr(module, "generate", drawn)
    racer, task = recipe(DAYS["train"], 3), date_model.Task(steps)
    assert racer.steps == steps and asked[0] == steps * date_model.SIZE
    for step in range(1, racer.steps + 1):
        assert racer.trainer.recipe.rate(step) == date_model.rate(step)
    model = racer.trainer.model
    assert model.config == task.config
    torch.manual_seed(3)
    again = Transformer(model.config).state_dict()
    assert all((again[k] == v).all() for k, v in model.state_dict().items())
    for one, other in zip(racer.batches, task.training, strict=True):
        assert one.source.equal(other.source)


def test_the_page_of_the_race_has_the_record():
    path = records.RESULTS / "speedrun.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    runs, medians = record["runs"], record["median"]
    for name, median in medians.items():
        assert median == score(runs, name) is not None
    page = path.parents[1] / "SPEEDRUN.md"
    rows = page.read_text(encoding="utf-8").split("\n|")[1:]
    (own,) = (row for row in rows if "the book" in row)
    arrived = sum(run["reached"] for run in runs)
    for part in (
        *(record["date"], medians["yardsticks"], f"{medians['CPU s']:.1f}"),
        *(f"{arrived} of {len(runs)}", f"{record['machine']}, torch"),
    ):
        assert f"| {part} " in f"|{own}", part
