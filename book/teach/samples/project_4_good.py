"""A cache whose texts are the leaves of one tree."""

from itertools import islice


class Position:
    """A position of a text; what came before it is its parent."""

    def __init__(self, key, value, before):
        self.key, self.value, self.before = list(key), list(value), before


class Cache:
    """A text is a pointer to its last position.

    To keep a text twice copies a pointer, to rewind follows one, and what no
    text points to is let go by Python itself.
    """

    def __init__(self, rows):
        self.last = [None] * rows

    def append(self, row, key, value):
        self.last[row] = Position(key, value, self.last[row])

    def backwards(self, row):
        position = self.last[row]
        while position:
            yield position
            position = position.before

    def read(self, row):
        positions = list(self.backwards(row))[::-1]
        return [p.key for p in positions], [p.value for p in positions]

    def keep(self, rows):
        self.last = [self.last[row] for row in rows]

    def rewind(self, row, positions):
        left = [*self.backwards(row), None]
        if positions >= len(left):
            raise ValueError(f"{positions} positions of {len(left) - 1}")
        self.last[row] = next(islice(left, positions, None))

    def numbers(self):
        seen = {
            id(p): p for r in range(len(self.last)) for p in self.backwards(r)
        }
        return sum(len(p.key) + len(p.value) for p in seen.values())
