"""kit.weather: the answer to a question is the last line about it."""

import torch
from torch import nn

from kit.weather import draw_logs, shares_right, train_on_logs
from tests.library.draw import DEVICE


def test_the_last_line_is_the_answer():
    torch.manual_seed(0)
    logs = [x.tolist() for x in draw_logs(5, 7)]
    for lines, degrees, asked, answers, times in zip(*logs, strict=True):
        assert len(lines) == len(degrees) == 14 and len(asked) == 8
        for direction, *known in zip(asked, answers, times, strict=True):
            both = zip(lines, degrees, strict=True)
            said = [d for line, d in both if line == direction]
            assert known == [said[-1], len(said)]


class Knows(nn.Module):
    """Finds the first line about a direction, which a weight may spoil."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(-1.0))

    def forward(self, lines, degrees, asked):
        first = (asked[:, :, None] == lines[:, None]).int().argmax(-1)
        found = degrees.gather(1, first)
        return self.weight * nn.functional.one_hot(found, 10)


def test_shares_are_of_all_of_once_and_of_more_often():
    torch.manual_seed(0)
    model = Knows().to(DEVICE)
    model.weight.data.abs_()
    every, once, more = shares_right(model, 8)
    assert once == 1 and 0 < more < every < 1


def test_training_goes_down_the_loss():
    torch.manual_seed(0)
    model = Knows().to(DEVICE)
    train_on_logs(model, 4, steps=150)
    assert model.weight > -0.8
