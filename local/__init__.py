"""The local runtime: runs a synthesized assembly on real engines. It contains no product code."""
