"""Who changed what, and when: one entry a write, kept apart from what it speaks of."""
