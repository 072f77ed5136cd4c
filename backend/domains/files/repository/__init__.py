"""The tables of files, by access pattern."""
