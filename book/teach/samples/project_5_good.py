"""An attention that asks its pattern which keys a position needs."""

from bisect import bisect_left
from math import exp, sqrt


class SparseAttention:
    """Landmarks stand sorted; those before the window are found by halving."""

    def __init__(self, length, window, landmarks):
        if window < 1:
            raise ValueError(f"window: expected at least 1, got {window}")
        outside = [m for m in landmarks if not 0 <= m < length]
        if outside:
            raise ValueError(f"landmarks: no positions: {outside}")
        self.length, self.window = length, window
        self.landmarks = sorted(set(landmarks))

    def seen(self, place):
        first = max(0, place - self.window + 1)
        far = bisect_left(self.landmarks, first)
        return [*self.landmarks[:far], *range(first, place + 1)]

    def pairs(self):
        near = sum(min(i + 1, self.window) for i in range(self.length))
        # A landmark is far from all positions behind its own window.
        far = (self.length - m - self.window for m in self.landmarks)
        return near + sum(max(0, n) for n in far)

    def attend(self, queries, keys, values):
        return [
            mean(queries[i], [(keys[j], values[j]) for j in self.seen(i)])
            for i in range(self.length)
        ]


def mean(query, pairs):
    """The values' mean, weighted by the softmax of the scores."""
    scores = [
        sum(q * k for q, k in zip(query, key, strict=True)) / sqrt(len(query))
        for key, _ in pairs
    ]
    top = max(scores)
    shares = [exp(score - top) for score in scores]
    columns = zip(*(value for _, value in pairs), strict=True)
    total = sum(shares)
    return [
        sum(s * x for s, x in zip(shares, column, strict=True)) / total
        for column in columns
    ]
