"""Search: indexing of changes in the two search indexes, and the queries over them."""
