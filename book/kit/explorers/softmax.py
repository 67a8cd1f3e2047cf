"""The explorer of chapter 2: scores, shares, and what the width does to them.

Not taught. The random numbers are those of the script, so that the table in
its place says what the script would draw.
"""

import math

import torch

from kit.explorers import Explorer, table

WIDTHS = [2, 4, 8, 16, 32, 64, 128, 256, 512]
KEYS, DRAWS = 8, 100
BITS = 0xFFFFFFFF


def uniform(seeds, count):
    """Mulberry32: numbers from 0 to 1, a row for each seed."""
    place = torch.arange(1, count + 1)
    a = (seeds[:, None] * 0x9E3779B1 + place * 0x6D2B79F5) & BITS
    t = ((a ^ (a >> 15)) * (a | 1)) & BITS
    t = t ^ ((t + (t ^ (t >> 7)) * (t | 61)) & BITS)
    return (t ^ (t >> 14)).double() / 2**32


def normals(seeds, count):
    """Normal numbers, two at a time, by Box and Muller."""
    first, second = uniform(seeds, count).unflatten(1, (-1, 2)).unbind(-1)
    radius = (-2 * torch.log(1 - first)).sqrt()
    angle = 2 * math.pi * second
    pairs = [radius * angle.cos(), radius * angle.sin()]
    return torch.stack(pairs, dim=-1).flatten(1)


def random_scores(seeds):
    """q · k of a query and eight keys for each seed, cut to each width.

    Returns:
        float64, of shape (widths, seeds, keys).
    """
    seeds = torch.as_tensor(seeds)
    made = normals(seeds, WIDTHS[-1] * (KEYS + 1)).unflatten(1, (-1, KEYS + 1))
    products = made[..., :1] * made[..., 1:]
    cut = torch.tensor(WIDTHS) - 1
    return products.cumsum(dim=1)[:, cut].transpose(0, 1)


def choices(shares):
    """e to the entropy: how many equal shares would be as undecided."""
    return torch.special.entr(shares).sum(dim=-1).exp()


def mean_choices(temperature=1.0):
    """The choices left of eight: a row not divided, and one divided by √d."""
    scores = random_scores(range(1, DRAWS + 1)) / temperature
    roots = torch.tensor(WIDTHS).sqrt()[:, None, None]
    kinds = (scores, scores / roots)
    return torch.stack([choices(s.softmax(-1)).mean(-1) for s in kinds])


def softmax_explorer(words, scores, width):
    """Bars of the shares that scores get, by temperature, width and scale.

    Args:
        words: what the scores are of.
        scores: one for each word.
        width: of the vectors that they come from.
    """
    scores = torch.as_tensor(scores, dtype=torch.float64, device="cpu")
    shares = scores.softmax(dim=0)
    columns = zip(words, scores.tolist(), shares.tolist(), strict=True)
    menu = {
        word: [f"{s:g}".replace("-", "−"), f"{p:.2f}"]
        for word, s, p in columns
    }
    by_width = zip(WIDTHS, *mean_choices().tolist(), strict=True)
    means = {str(d): [f"{a:.2f}", f"{b:.2f}"] for d, a, b in by_width}
    first = "Shares at temperature 1, not divided"
    second = f"Choices left of {KEYS} random keys, mean of {DRAWS} draws"
    names = ["width d", "not divided", "divided by √d"]
    fallback = (
        table(first, ["word", "score", "share"], menu)
        + "\n"
        + table(second, names, means)
    )
    given = {"words": list(words), "scores": scores.tolist(), "width": width}
    return Explorer("softmax-explorer", fallback, **given)
