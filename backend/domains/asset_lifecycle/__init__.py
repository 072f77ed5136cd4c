"""Archiving, restoring and permanently deleting assets: one transaction each, then a job."""
