"""Purges deleted databases: a job removes all that is left of one, then its id is free."""
