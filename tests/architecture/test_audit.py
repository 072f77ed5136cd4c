"""A route that writes has an entry in the audit trail, or a reason why it has none."""

from tests.unit.domains.audit.product import Product
from tests.unit.domains.audit.writes import WRITES_WITHOUT_ENTRY, story, written_routes


def test_every_route_that_writes_is_in_the_story_of_writes_or_has_a_reason() -> None:
    product = Product()
    bodies: list[object] = []
    told = set[object]()
    for step in story(product, lambda: bodies[-1]):
        told.add(step.route)
        answer = product.send(step.route, parameters=step.parameters, body=step.body)
        bodies.append(answer.body)
    assert told | set(WRITES_WITHOUT_ENTRY) == written_routes()
    assert not told & set(WRITES_WITHOUT_ENTRY)
    assert all(WRITES_WITHOUT_ENTRY.values())
