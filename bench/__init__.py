"""Benchmarks: the product beside the bare calls that it cannot do without."""
