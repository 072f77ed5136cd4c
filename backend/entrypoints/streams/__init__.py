"""The functions of the indexing path, one module each."""
