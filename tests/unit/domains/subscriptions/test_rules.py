"""Audit entries as messages to subscribers."""

import pytest

from backend.domains.subscriptions.rules import Notification, message_text, notification_of

ENTRY = {
    "entity": "asset:museum:statue",
    "operation": "update_asset",
    "userId": "ann",
    "at": "2026-03-01T12:00:00.000000Z#abcd",
}


def test_an_entry_of_an_asset_or_of_a_file_is_returned() -> None:
    expected = Notification(
        "museum", "statue", "update_asset", "ann", "2026-03-01T12:00:00.000000Z"
    )
    assert notification_of(ENTRY) == expected
    assert notification_of({**ENTRY, "entity": "file:museum:statue:/a:b/c.glb"}) == expected


def test_a_creation_notifies_no_one() -> None:
    assert notification_of({**ENTRY, "operation": "create_asset"}) is None


@pytest.mark.parametrize(
    "changes", [{"entity": "tag:red"}, {"entity": "asset:museum"}, {"userId": None}, {"at": 5}]
)
def test_what_is_no_such_entry_is_an_error(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"asset|entry"):
        notification_of({**ENTRY, **changes})


def test_a_long_message_is_cut_and_repetitions_are_reported_once() -> None:
    happenings = [Notification("m", "s", f"operation_{n}", "ann", "2026") for n in range(60)]
    found = message_text("It", [*happenings, *happenings])
    assert found.count("operation") == 50
    assert found.endswith("and 10 more.\n")
