"""The local runtime: runs a synthesized assembly on real engines; no product code in here."""
