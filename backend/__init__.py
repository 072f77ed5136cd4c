"""The deployed package: declarations, domains, search and the Lambda entrypoints."""
