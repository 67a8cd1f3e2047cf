"""What notebooks of 2026 import is found, until the end of 2027."""

from importlib import import_module

import pytest

from kit.trained import FOLDER


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lib.exercises:check", "kit.exercises:check"),
        (
            "lib.explorers.masks:mask_explorer",
            "kit.explorers.masks:mask_explorer",
        ),
        ("lib.dates:generate", "kit.dates:generate"),
        ("lib.interop:from_torch", "kit.interop:from_torch"),
        ("lib.adapters:Patient", "lib.diagnose.convention:Probe"),
        ("lib.cache:PastAttention", "lib.cache:CachedSelfAttention"),
        ("lib.parallel:own_stretch", "lib.parallel:shard"),
        ("lib.figures:masks", "kit.figures:mask_panels"),
    ],
)
def test_an_old_name_is_the_new_one(old, new):
    (old, old_name), (new, name) = old.split(":"), new.split(":")
    there = getattr(import_module(new), name)
    assert getattr(import_module(old), old_name) is there


def test_workers_are_counted_by_the_old_keyword(monkeypatch):
    from lib.launching import WorkerError, on_workers

    given = {}
    monkeypatch.setattr(
        "kit.launching.on_workers", lambda *a, **more: given.update(more) or a
    )
    assert on_workers("task", world=4, x=1) == ("task", 4)
    assert given == {"x": 1} and issubclass(WorkerError, RuntimeError)


def test_the_model_of_one_text_has_one_vocabulary():
    from lib.one_text import OneText, one_text_model

    model, tokens, card = one_text_model(folder=FOLDER)
    assert tokens.decode(tokens.encode("12-24")) == "12-24"
    assert OneText and card["tokens"] and not model.training
