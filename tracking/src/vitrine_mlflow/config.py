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
_OFF = "off"
_RECENT_SECONDS = 5


@dataclass(frozen=True)
class Setting:
    """One setting. All are off until they are set."""

    description: str
    expected: str
    parse: Callable[[str], Any]  # of a text other than `off`; None refuses it


SETTINGS: Mapping[str, Setting] = {
    RUN_NAMES: Setting(
        "full-text rows of run names, in experiments that are created from then on",
        "'on' or 'off'",
        lambda text: True if text == "on" else None,
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
        _parsed(key, text)
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
        return _parsed(key, self._recent[1][key])


def _parsed(key: str, text: str) -> Any:
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
