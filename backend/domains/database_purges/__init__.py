"""Purges deleted databases: a job removes the remains of one, then its id can be used again."""
