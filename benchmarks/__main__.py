"""`make bench`: everything that the pages draw, measured on this machine."""

from benchmarks import (
    attention,
    costs,
    dates,
    decoding,
    depth,
    hops,
    layouts,
    matrix_product,
    model,
    written_dates,
)

ALL = (
    matrix_product,
    layouts,
    attention,
    hops,
    model,
    decoding,
    written_dates,
    dates,
    costs,
    depth,
)
for benchmark in ALL:
    print(f"\n{benchmark.__doc__.splitlines()[0]}")
    benchmark.main()
