"""One factory per item, shared by all kinds of tests."""
