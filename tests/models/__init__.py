"""`make prove PART=models`: readers on a corpus that nobody here made."""
