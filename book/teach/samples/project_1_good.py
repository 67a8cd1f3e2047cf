"""A soft dictionary whose pairs stand in a dict, by an ever new number."""

from itertools import count
from math import exp, sqrt


class SoftDictionary:
    """Removing is one step, and reading visits each pair once."""

    def __init__(self):
        self.pairs = {}
        self.next_number = count()

    def store(self, key, value):
        number = next(self.next_number)
        self.pairs[number] = (tuple(key), tuple(value))
        return number

    def forget(self, number):
        del self.pairs[number]

    def read(self, query, sharpness=1.0):
        if not self.pairs:
            raise LookupError("nothing is stored")
        # A sum that grows pair by pair, with the largest score so far taken
        # off: when a larger one comes, what was summed is scaled down.
        largest, total, mean = float("-inf"), 0.0, None
        for key, value in self.pairs.values():
            score = sharpness * dot(query, key) / sqrt(len(query))
            new_largest = max(largest, score)
            old, new = exp(largest - new_largest), exp(score - new_largest)
            mean = mean or [0.0] * len(value)
            mean = [
                old * m + new * v for m, v in zip(mean, value, strict=True)
            ]
            total = old * total + new
            largest = new_largest
        return [m / total for m in mean]

    def __len__(self):
        return len(self.pairs)


def dot(a, b):
    if len(a) != len(b):
        raise ValueError(f"expected width {len(b)}, got {len(a)}")
    return sum(x * y for x, y in zip(a, b, strict=True))
