"""`make prove PART=models`: readers on a corpus from other sources."""
