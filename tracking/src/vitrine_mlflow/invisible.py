"""Invisible characters in names of users and roles: such a name looks like another one.

The same set as of Vitrine's names (`backend/core/invisible.py`), without the exceptions for emoji
and joiners, which these names do not need.
"""

import re

from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

_BLANKS = "[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
_BLANK_END = re.compile(rf"\A{_BLANKS}|{_BLANKS}\Z")


def check_visible(name: str, what: str) -> None:
    """Require a name without invisible characters, or blanks at its ends other than spaces.

    `what` names it in the error.

    Raises:
        MlflowException: the name contains one.
    """
    match = INVISIBLE.search(name) or _BLANK_END.search(name)
    if match is not None:
        raise MlflowException(
            f"{what} must not contain the invisible character U+{ord(match[0]):04X}",
            INVALID_PARAMETER_VALUE,
        )
