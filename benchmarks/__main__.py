"""`make bench`: everything that the pages draw, measured on this machine."""

from benchmarks import (
    attention,
    dates,
    decoding,
    layouts,
    matrix_product,
    model,
)

for benchmark in (matrix_product, layouts, attention, model, decoding, dates):
    print(f"\n{benchmark.__doc__.splitlines()[0]}")
    benchmark.main()
