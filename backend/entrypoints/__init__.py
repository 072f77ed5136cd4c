"""Deployed functions: each module holds one handler and nothing else."""

import gc

# Starting makes some hundred thousand objects and no garbage. With Python's own threshold (700)
# they are walked again and again, a fifth of the time that a function needs to start.
gc.set_threshold(50_000)
