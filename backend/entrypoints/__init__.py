"""Lambda entrypoints: wiring only."""
