"""A judged set of searches: the corpus, the queries with grades, and the measurement."""
