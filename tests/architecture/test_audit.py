"""A route that writes has an audit entry, or a reason for having none."""

from tests.routes import CASES


def test_every_route_that_writes_has_an_entry_or_a_reason() -> None:
    for case in CASES:
        writes = case.route.method not in {"GET", "HEAD"}
        assert bool(case.audit) + bool(case.without_entry) == writes, case.route.key
