"""Quarantine: object versions in which a malware scan found a threat cannot be read."""
