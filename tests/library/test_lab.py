"""The lab's model: what is taken out is out, and the rest is the book's."""

import pytest
import torch

from kit import lab
from kit.lab import ANY, PARTS, TASKS, NumberModel

IDS = torch.tensor([[3, 1, 4, 0, 5], [2, 7, 1, 8, 6]])


@pytest.fixture(params=[False, True], ids=["norm after", "norm before"])
def model(request):
    torch.manual_seed(0)
    model = NumberModel(9, layers=2, norm_first=request.param)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    return model.double()


def test_with_all_parts_it_is_the_encoder_of_chapter_8(model):
    x = model.encoder(model.positions(model.embedding(IDS)))
    torch.testing.assert_close(model(IDS), model.output(x))


@pytest.mark.parametrize("part", [*PARTS[:-1], "1.3"])
def test_a_part_is_out_while_it_is_said_and_no_longer(model, part):
    before = model(IDS)
    with model.without(part):
        assert not torch.allclose(model(IDS), before)
        with model.without("positions", "choice"):
            assert not model.has("positions") and not model.has(part)
    torch.testing.assert_close(model(IDS), before)


def test_each_part_is_the_one_that_is_named(model):
    """Without it, something holds that does not hold with it."""
    order = torch.tensor([4, 2, 0, 3, 1])
    other = IDS.clone()
    other[:, 1:] = 0

    def is_moved():
        return torch.allclose(model(IDS[:, order]), model(IDS)[:, order])

    def is_alone():
        return torch.allclose(model(other)[:, 0], model(IDS)[:, 0])

    def multiply_queries(number):
        for block in model.encoder.blocks:
            for weight in block.attention.in_proj.parameters():
                weight.data[:32] *= number

    assert not is_moved() and not is_alone()
    with model.without("positions"):
        assert is_moved() and not is_alone()
    with model.without("attention"):
        assert is_alone()
    with model.without(*(f"{b}.{h}" for b in (0, 1) for h in range(4))):
        assert is_alone()
    with model.without("attention", "feed_forward", "norm"):
        x = model.positions(model.embedding(IDS))
        torch.testing.assert_close(model(IDS), model.output(x))
    multiply_queries(8**-0.5)  # scores without scale
    scaled = model(IDS)
    multiply_queries(8**-0.5)
    with model.without("scale"):
        torch.testing.assert_close(model(IDS), scaled)
    with model.without("choice"):
        level = model(IDS)
    multiply_queries(0)  # and no scores
    torch.testing.assert_close(model(IDS), level)


def test_a_mask_hides_what_comes_until_it_is_taken_out():
    model = NumberModel(9, causal=True)
    other = IDS.clone()
    other[:, 3:] = 0
    assert torch.allclose(model(IDS)[:, :3], model(other)[:, :3])
    with model.without("causal"):
        assert not torch.allclose(model(IDS)[:, :3], model(other)[:, :3])


@pytest.mark.bad_input
def test_what_is_not_there_is_named():
    model = NumberModel(9)
    with pytest.raises(ValueError, match="sound"), model.without("sound"):
        pass
    with pytest.raises(ValueError, match="spell"):
        lab.train("spell")


def test_tasks_say_what_is_right():
    answer = {name: task.answer for name, task in TASKS.items()}
    row = torch.tensor([[5, 2, 9]])
    assert answer["sort"](row).tolist() == [[2, 5, 9]]
    assert answer["reverse"](row).tolist() == [[9, 2, 5]]
    assert answer["copy"](row).tolist() == [[5, 2, 9]]
    # a4 c1 f0, then c, a, f
    pairs = torch.tensor([[16, 25, 42, 8, 6, 11]])
    assert answer["lookup"](pairs).tolist() == [[ANY] * 3 + [1, 4, 0]]
    row = torch.tensor([[13, 13, 14, 13, 14, 14]])
    assert answer["brackets"](row).tolist() == [[1, 2, 1, 2, 1, 0]]


@pytest.mark.parametrize("name", TASKS)
def test_no_row_is_both_seen_and_unseen(name):
    task, drawn = TASKS[name], torch.Generator().manual_seed(1)
    seen, unseen = (
        {tuple(row) for row in task.rows(300, 8, held, drawn).tolist()}
        for held in (False, True)
    )
    assert seen and unseen and not seen & unseen
    answers = task.answer(torch.tensor([*seen]))
    assert answers.max() < task.vocab_size
    assert ((answers >= 0) | (answers == ANY)).all()


def test_training_is_the_same_for_a_seed_and_finds_the_task():
    settings = {"length": 7, "steps": 150, "batch": 32}
    first, again, other = (
        lab.train("lookup", **settings, seed=seed) for seed in (1, 1, 2)
    )
    assert first.losses == again.losses != other.losses
    assert first.right() > 0.9
    with first.model.without("choice"):
        assert first.right(100) < 0.2


def test_in_turn_it_reads_its_own_words():
    trained = lab.train("reverse", length=4, in_turn=True, steps=150)
    assert trained.right(200) > 0.9
    rows = torch.tensor([[3, 14, 7, 1]])
    assert trained.say(rows).tolist() == [[1, 7, 14, 3]]
