"""The log of chapter 19: directions, degrees, and what was said last."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib.runtime import device


def draw_logs(count: int, directions: int) -> list[Tensor]:
    """Logs in which a direction is named twice on average, and questions.

    Returns:
        The directions and the degrees of the lines, eight directions that are
        asked for, their last degrees, and how often each was named.
    """
    lines = torch.randint(directions, (count, 2 * directions))
    degrees = torch.randint(10, lines.shape)
    asked = lines[:, torch.randperm(2 * directions)[:8]]
    named = asked[:, :, None] == lines[:, None]
    place = torch.arange(1, 2 * directions + 1)
    answers = degrees.gather(1, (named * place).argmax(-1))
    drawn = lines, degrees, asked, answers, named.sum(-1)
    return [x.to(device()) for x in drawn]


def train_on_logs(model: nn.Module, directions: int, steps: int = 200) -> None:
    """Fresh logs at each step, 32 of them; a warm-up, then down to zero."""
    optimiser = torch.optim.Adam(model.parameters(), fused=True)
    for step in range(steps):
        rise, fall = min(1, (step + 1) / 20), 1 - step / steps
        optimiser.param_groups[0]["lr"] = 0.01 * rise * fall
        *given, answers, _times = draw_logs(32, directions)
        loss = F.cross_entropy(model(*given).mT, answers)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


@torch.no_grad()
def shares_right(model: nn.Module, directions: int) -> list[float]:
    """Of all questions; of those named once; of those named more often."""
    *given, answers, times = draw_logs(500, directions)
    right = (model(*given).argmax(-1) == answers).double()
    groups = right, right[times == 1], right[times > 1]
    return [group.mean().item() for group in groups]
