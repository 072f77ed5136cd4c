"""Settings in the table. Every process that uses the table reads them from there."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vitrine_mlflow import keys
from vitrine_mlflow.database import Database
from vitrine_mlflow.errors import invalid
from vitrine_mlflow.expressions import Put, with_key
from vitrine_mlflow.table import SORT_KEY

RUN_NAMES = "full_text.run_names"
DELETED_RUNS_EXPIRE, TRACES_EXPIRE = "expiry.deleted_runs", "expiry.traces"
# A hundred years; `expiresAt` remains a valid time of DynamoDB.
MOST_DAYS = 36_500
_OFF = "off"
_SECONDS_OF_DAY = 86_400
# A server reads the settings again when they are this old, so a write costs no read of them.
_RECENT_SECONDS = 5


@dataclass(frozen=True)
class Setting:
    """One setting. All are off until they are set."""

    description: str
    expected: str
    parse: Callable[[str], Any]  # of a text other than `off`; None refuses it


def _days(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and not text.startswith("0")
    return int(text) if is_number and len(text) < 6 and int(text) <= MOST_DAYS else None


_DAYS = f"'off' or a number of days from 1 to {MOST_DAYS}"

SETTINGS: Mapping[str, Setting] = {
    RUN_NAMES: Setting(
        "full-text rows of run names, in experiments that are created from then on",
        "'on' or 'off'",
        lambda text: True if text == "on" else None,
    ),
    DELETED_RUNS_EXPIRE: Setting(
        "days after which runs that are deleted from then on are archived", _DAYS, _days
    ),
    TRACES_EXPIRE: Setting(
        "days after which traces that are created from then on are archived", _DAYS, _days
    ),
}


class Config:
    """Reads and sets settings."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._recent: tuple[float, dict[str, str]] | None = None

    def get(self, key: str) -> str:
        """The text of a setting, read consistently.

        Raises:
            MlflowException: there is no such setting.
        """
        _require_known(key)
        item = self._database.get(keys.CONFIG.key(key=key))
        return _OFF if item is None else item["value"]

    def set(self, key: str, text: str) -> None:
        """Set a setting.

        Raises:
            MlflowException: there is no such setting, or the value is invalid.
        """
        _require_known(key)
        _parse_value(key, text)
        self._database.write([Put(with_key(keys.CONFIG.key(key=key), {"value": text}))])
        self._recent = None

    def all(self) -> dict[str, str]:
        """The texts of all settings, those that are not set too."""
        pk, prefix = keys.CONFIG.key(key="").pk, keys.CONFIG.prefix()
        stored: dict[str, str] = {}
        for item in self._database.query_prefix(pk, prefix):
            fields = keys.CONFIG.sk.parse(item[SORT_KEY]) or {}
            stored[fields["key"]] = item["value"]
        return {key: stored.get(key, _OFF) for key in SETTINGS}

    def value(self, key: str) -> Any:
        """The value of a setting as it was at most five seconds ago; None if it is off."""
        now = time.monotonic()
        if self._recent is None or now - self._recent[0] > _RECENT_SECONDS:
            self._recent = (now, self.all())
        return _parse_value(key, self._recent[1][key])

    def expires_at(self, key: str, now_ms: int) -> int | None:
        """Seconds since 1970 at which an item expires by a setting of days; None if it is off."""
        days: int | None = self.value(key)
        return None if days is None else now_ms // 1000 + days * _SECONDS_OF_DAY


def _parse_value(key: str, text: str) -> Any:
    if text == _OFF:
        return None
    setting = SETTINGS[key]
    parsed = setting.parse(text)
    if parsed is None:
        raise invalid(f"Invalid value '{text}' for setting '{key}': expected {setting.expected}.")
    return parsed


def _require_known(key: str) -> None:
    if key not in SETTINGS:
        raise invalid(f"Unknown setting '{key}'. Settings: {', '.join(SETTINGS)}.")
