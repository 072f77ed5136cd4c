"""The tables of metadata and attributes, by access pattern."""
