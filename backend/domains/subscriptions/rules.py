"""The text of notifications, and the audit entries that cause one. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from backend.core.identity import user_of
from backend.core.references import AssetRef

# Events without a notification. Nobody can have subscribed to a new asset.
SILENT = frozenset({"create_asset"})
# Lines of a mail; SNS accepts 256 KB, but people read the first ones.
_SHOWN = 50


class Notification(NamedTuple):
    """A change of an asset or of one of its files."""

    database_id: str
    asset_id: str
    operation: str
    user_id: str
    at: str


def notification_of(entry: Mapping[str, object]) -> Notification | None:
    """Return the notification for an audit entry; None if it causes none.

    Raises:
        ValueError: the entry is not about an asset, a file or an execution.
    """
    names = ("entity", "operation", "userId", "at")
    values = [entry.get(name) for name in names]
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(names):
        raise ValueError(f"an entry has {', '.join(names)}")
    entity, operation, user_id, at = texts
    kind, *ids = entity.split(":", 3)
    if kind == "execution" or operation in SILENT:
        return None
    if kind not in {"asset", "file"} or len(ids) < 2:
        raise ValueError(f"{entity} is neither an asset nor a file")
    return Notification(ids[0], ids[1], operation, user_of(user_id), at.partition("#")[0])


def by_asset(happenings: Iterable[Notification]) -> dict[AssetRef, list[Notification]]:
    """Return the changes of each asset, in the order in which they are reported."""
    notifications: dict[AssetRef, list[Notification]] = {}
    for happening in happenings:
        notifications.setdefault(AssetRef(happening.database_id, happening.asset_id), []).append(
            happening
        )
    return notifications


def message_subject(asset_name: str) -> str:
    return f"Changed: {asset_name}"


def message_text(asset_name: str, happenings: Sequence[Notification]) -> str:
    """Return a message: the asset, the changes, and who made them when."""
    first = happenings[0]
    where = f"({first.asset_id}) of the database {first.database_id}"
    lines = [f"The asset {asset_name} {where} was changed:", ""]
    shown = list(dict.fromkeys(_line(happening) for happening in happenings))
    lines += shown[:_SHOWN]
    if len(shown) > _SHOWN:
        lines.append(f"and {len(shown) - _SHOWN} more.")
    return "\n".join(lines) + "\n"


def _line(notification: Notification) -> str:
    operation = notification.operation.replace("_", " ")
    return f"{notification.at[:19]}Z  {operation}  by {notification.user_id}"
