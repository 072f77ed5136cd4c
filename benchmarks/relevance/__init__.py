"""A judged set of searches: the corpus, the queries with graded judgements, the measurement."""
