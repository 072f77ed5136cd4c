"""Every route that writes makes one entry of each write, with the write or not at all."""

import pytest

from backend.spec import routes
from tests.routes import CASE_OF, CASES
from tests.routes.model import Case, Target
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.world import BothOf
from tests.unit.domains.audit.product import SECRET

WRITES = [case for case in CASES if case.audit]
BESIDE = {"operations", "queues"}
"""Domains that change what is in no table, so that an entry is written before it."""
_by_case = pytest.mark.parametrize("case", WRITES, ids=lambda case: case.route.key)


@_by_case
def test_a_write_makes_one_entry_of_its_route(world: Seeded, both_of: BothOf, case: Case) -> None:
    done = both_of(case).done
    assert done.answer.status == 200, done.answer.body
    wanted = sorted(case.entries(Target(world, case.succeeds)))
    found = sorted((entry["operation"], entry["entity"]) for entry in done.entries)
    assert len(found) == len(wanted), found
    named = [
        (operation, entity[: len(name)] if name.endswith(":") else entity)
        for (operation, entity), (_, name) in zip(found, wanted, strict=True)
    ]
    assert named == wanted
    assert {entry["userId"] for entry in done.entries} == {"admin"}
    assert all(entry["changes"] for entry in done.entries)


@_by_case
def test_a_refused_write_makes_none(both_of: BothOf, case: Case) -> None:
    refused = both_of(case).refused
    assert refused.answer.status in {403, 404}
    assert refused.entries == []


def test_only_entries_of_what_is_in_no_table_are_written_apart(
    both_of: BothOf,
) -> None:
    """That of a creation follows from the stream; the user pool and queues are no tables."""
    apart = {case.route for case in WRITES if both_of(case).done.lonely}
    assert apart == {routes.CREATE_ASSET} | {
        case.route
        for case in WRITES
        if "/user/cognito" in case.route.path or case.route.domain in BESIDE
    }


def test_no_entry_holds_a_key_or_what_is_kept_of_it(both_of: BothOf) -> None:
    text = str([both_of(case).done.entries for case in WRITES])
    key = both_of(CASE_OF[routes.CREATE_API_KEY]).done.answer.body["apiKey"]
    assert key.startswith("vams_")
    assert not [secret for secret in ("apiKeyHash", key, SECRET) if secret in text]
