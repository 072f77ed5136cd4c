"""Seeds of the histories of the registry, logged models and evaluation datasets.

`PART=tracking` runs the same few histories each time, so that a failure is caused by the change
itself; `make prove PART=mlflow`, which sets the amount, draws new ones.
"""

import os
import random

from tests.amounts import amount

_AMOUNT = os.environ.get("MLFLOW_REGISTRY_HISTORIES")
_FIRST = os.environ.get("MLFLOW_FIRST_SEED")
HISTORIES = amount("MLFLOW_REGISTRY_HISTORIES")


def seed_of(number: int) -> int:
    """Return the seed of one history, counted from MLFLOW_FIRST_SEED if it is set."""
    if _AMOUNT is not None and _FIRST is None:
        return random.SystemRandom().randrange(1_000_000_000)
    return int(_FIRST or "0") + number
