"""Reads the records of `up --record-grants` and reports unused grants.

A record may cover several runtimes: their uses are combined, and the last recorded grants of each
role apply. The secrets of each runtime have different ARNs; they count as one.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict, cast

from local.errors import LocalError
from local.iam.policy import Grant

_SECRET = re.compile(r"(:secret:.+)-\w{6}$")


class _Granted(TypedDict):
    role: str
    granted: list[list[str]]


class _Used(TypedDict):
    role: str
    asked: str
    used: list[str]


@dataclass
class Usage:
    """The grants of one role, the used ones, and the actions that used them."""

    granted: set[Grant] = field(default_factory=set[Grant])
    used: dict[Grant, set[str]] = field(default_factory=dict[Grant, set[str]])

    def unused(self) -> list[Grant]:
        """Return the grants that nothing used."""
        return sorted(self.granted - set(self.used))


def read_record(path: Path) -> dict[str, Usage]:
    """Return the usage of each role.

    Raises:
        LocalError: the file does not exist, or is not a record.
    """
    roles: dict[str, Usage] = {}
    try:
        for text in path.read_text(encoding="utf-8").splitlines():
            line = cast("_Granted | _Used", json.loads(text))
            usage = roles.setdefault(line["role"], Usage())
            if "granted" in line:
                usage.granted = {_grant(*grant) for grant in line["granted"]}
            else:
                usage.used.setdefault(_grant(*line["used"]), set()).add(line["asked"])
    except OSError as error:
        raise LocalError(f"cannot read {path}: {error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LocalError(f"{path} is no record of grants: {error}") from error
    return roles


def _grant(action: str, resource: str) -> Grant:
    return Grant(action, _SECRET.sub(r"\1-??????", resource))
