"""What the benchmarks compare computes the same, and is what pages read."""
