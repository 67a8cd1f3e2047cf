"""Does a fault in the library show? `python -m tools.faults` says it.

A fault is a small change of book/lib that makes it wrong: one listed by hand,
because people write it, or one generated from an operator, a constant, an
argument. Each is written into a copy of the book and must be noticed twice:
by the notebooks alone and by the unit tests alone.
"""
