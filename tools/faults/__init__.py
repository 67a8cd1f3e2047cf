"""Does a fault in the library show? `python -m tools.faults` says it."""
