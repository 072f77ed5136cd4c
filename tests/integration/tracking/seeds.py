"""Seeds of the histories of the registry, logged models and evaluation datasets."""

import os
import random

HISTORIES = int(os.environ.get("MLFLOW_REGISTRY_HISTORIES", "4"))
_FIRST = os.environ.get("MLFLOW_FIRST_SEED")


def seed_of(number: int) -> int:
    """The seed of one history: a new one, or counted from MLFLOW_FIRST_SEED if it is set."""
    if _FIRST is None:
        return random.SystemRandom().randrange(1_000_000_000)
    return int(_FIRST) + number
