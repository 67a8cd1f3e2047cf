"""`make bench`: everything that the pages draw, measured on this machine."""

from benchmarks import attention, decoding, layouts, matrix_product, model

for benchmark in (matrix_product, layouts, attention, model, decoding):
    print(f"\n{benchmark.__doc__.splitlines()[0]}")
    benchmark.main()
