"""How assets are archived, brought back and deleted for good: a transaction each, then a job."""
