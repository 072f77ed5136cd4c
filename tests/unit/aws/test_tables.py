"""Transactions on items that another transaction holds."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from backend.aws.clients import dynamodb
from backend.aws.settings import Settings
from backend.aws.tables import DynamoTables
from backend.core.errors import InvalidInputError, TooLargeError, UnavailableError, VitrineError
from backend.core.tables import Tables
from backend.core.transactions import Delete, Put, Update
from backend.spec.tables.operations import RESERVATIONS

KEY = {RESERVATIONS.partition_key.name: "a"}
Step = Callable[[Tables], object]

WRITES: dict[str, tuple[str, Step]] = {
    "put": ("put_item", lambda tables: tables.write(Put(table=RESERVATIONS, item=dict(KEY)))),
    "update": (
        "update_item",
        lambda tables: tables.write(Update(table=RESERVATIONS, key=KEY, set={"count": 1})),
    ),
    "delete": ("delete_item", lambda tables: tables.write(Delete(table=RESERVATIONS, key=KEY))),
    "increment": (
        "update_item",
        lambda tables: tables.increment(RESERVATIONS, KEY, "count", initial=0),
    ),
}


@pytest.fixture
def held() -> Any:
    """Tables, and the stub that returns DynamoDB's replies."""
    client = dynamodb()
    with Stubber(client) as stub:
        yield DynamoTables(client, Settings({f"TABLE_{RESERVATIONS.name}": "table"})), stub


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_meets_a_transaction_is_tried_again(
    held: tuple[DynamoTables, Stubber], name: str
) -> None:
    tables, stub = held
    operation, write = WRITES[name]
    for _ in range(2):
        stub.add_client_error(operation, "TransactionConflictException", http_status_code=400)
    stub.add_response(operation, {"Attributes": {"count": {"N": "1"}}})
    write(tables)
    stub.assert_no_pending_responses()


def test_a_write_to_a_permanently_locked_item_is_an_outage(
    held: tuple[DynamoTables, Stubber], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pass_by(seconds: float) -> None:
        """Retries without waiting."""

    monkeypatch.setattr("tenacity.nap.time.sleep", pass_by)
    tables, stub = held
    for _ in range(20):
        stub.add_client_error("put_item", "TransactionConflictException", http_status_code=400)
    with pytest.raises(UnavailableError):
        tables.write(Put(table=RESERVATIONS, item=dict(KEY)))


@pytest.mark.parametrize(
    "reason", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"]
)
def test_a_transaction_that_comes_too_early_is_tried_again(
    held: tuple[DynamoTables, Stubber], reason: str
) -> None:
    tables, stub = held
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        http_status_code=400,
        modeled_fields={"CancellationReasons": [{"Code": reason}]},
    )
    stub.add_response("transact_write_items", {})
    tables.transact([Put(table=RESERVATIONS, item=dict(KEY))])
    stub.assert_no_pending_responses()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Item size has exceeded the maximum allowed size", TooLargeError),
        ("Item size to update has exceeded the maximum allowed size", TooLargeError),
        (
            "Number overflow. Attempting to store a number with too much precision",
            InvalidInputError,
        ),
        ("Invalid UpdateExpression: the document path is invalid", None),
    ],
)
def test_a_transaction_canceled_for_an_invalid_item_gets_the_error_of_a_write_alone(
    held: tuple[DynamoTables, Stubber], message: str, expected: type[VitrineError] | None
) -> None:
    tables, stub = held
    put = Put(table=RESERVATIONS, item=dict(KEY))
    stub.add_client_error("put_item", "ValidationException", message, http_status_code=400)
    with pytest.raises(ClientError if expected is None else expected):
        tables.write(put)
    reasons = [{"Code": "None"}, {"Code": "ValidationError", "Message": message}]
    stub.add_client_error(
        "transact_write_items",
        "TransactionCanceledException",
        http_status_code=400,
        modeled_fields={"CancellationReasons": reasons},
    )
    with pytest.raises(ClientError if expected is None else expected):
        tables.transact([Delete(table=RESERVATIONS, key={**KEY, "reservationKey": "b"}), put])
