"""Does a fault in the library show? `python -m tools.faults` says it.

A fault is a small change of a module of book/lib that makes it wrong. Each
is written into a copy of the book and should be noticed twice: by the
notebooks alone and by the unit tests alone.
"""
