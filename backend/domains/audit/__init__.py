"""The audit log: who changed what and when, one entry for each write."""
