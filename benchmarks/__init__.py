"""Figures and ratios of the indexing path; never a timed test. `make bench` runs all of it."""
