"""A soft dictionary of two lists."""

import math


class SoftDictionary:
    def __init__(self):
        self.keys = []
        self.values = []

    def store(self, key, value):
        self.keys.append(key)
        self.values.append(value)
        return len(self.keys) - 1

    def forget(self, number):
        self.keys.pop(number)
        self.values.pop(number)

    def read(self, query, sharpness=1.0):
        scores = []
        for key in self.keys:
            dot = sum(q * k for q, k in zip(query, key))
            scores.append(math.exp(sharpness * dot / math.sqrt(len(query))))
        weights = [s / sum(scores) for s in scores]
        result = []
        for d in range(len(self.values[0])):
            result.append(sum(w * v[d] for w, v in zip(weights, self.values)))
        return result

    def __len__(self):
        return len(self.keys)
