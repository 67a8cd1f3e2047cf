"""A cache of lists."""


class Cache:
    def __init__(self, rows):
        self.keys = [[] for _ in range(rows)]
        self.values = [[] for _ in range(rows)]

    def append(self, row, key, value):
        self.keys[row].append(key)
        self.values[row].append(value)

    def read(self, row):
        return self.keys[row], self.values[row]

    def keep(self, rows):
        self.keys = [self.keys[r] for r in rows]
        self.values = [self.values[r] for r in rows]

    def rewind(self, row, positions):
        self.keys[row] = self.keys[row][:-positions]
        self.values[row] = self.values[row][:-positions]

    def numbers(self):
        total = 0
        for keys, values in zip(self.keys, self.values):
            for key, value in zip(keys, values):
                total += len(key) + len(value)
        return total
