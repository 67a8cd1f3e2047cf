"""Side-by-side measurements; `make bench` runs them, pages draw some."""
