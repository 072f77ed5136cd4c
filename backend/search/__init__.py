"""Search: the path from changes to the two indexes, and the queries over them."""
