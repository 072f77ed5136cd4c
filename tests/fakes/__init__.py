"""In-memory implementations of ports, for tests."""
