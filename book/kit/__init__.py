"""What the notebooks use and no chapter teaches: checks, figures, data.

It stands on `lib`, and nothing in `lib` stands on it.
"""

import lib  # noqa: F401  until 2028: it answers to the old names
