"""Benchmarks: figures and ratios of the product; tests never assert times.

`make bench` runs them.
"""
