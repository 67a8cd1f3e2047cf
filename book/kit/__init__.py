"""What the notebooks use and no chapter teaches: checks, figures, data.

It stands on `lib`, and nothing in `lib` stands on it.
"""
