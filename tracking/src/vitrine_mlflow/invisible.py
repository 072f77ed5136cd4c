"""Invisible characters in names of users: such a name looks like another user's.

The same set as of Vitrine's names (`backend/core/invisible.py`), without the exceptions for emoji
and joiners, which names of users do not need.
"""

import re

from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def check_visible(username: str) -> None:
    """Require a name without invisible characters.

    Raises:
        MlflowException: the name contains one.
    """
    found = INVISIBLE.search(username)
    if found is not None:
        raise MlflowException(
            f"Username must not contain the invisible character U+{ord(found[0]):04X}",
            INVALID_PARAMETER_VALUE,
        )
