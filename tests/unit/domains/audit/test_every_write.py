"""Every route that writes makes one entry of each write, with the write or not at all."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from backend.spec import routes
from backend.spec.routes import ROUTES, Route
from tests.unit.domains.audit.product import SECRET, Product
from tests.unit.domains.audit.writes import (
    WRITES_WITHOUT_ENTRY,
    Step,
    story,
    written_routes,
)


@dataclass
class Told:
    """What a step left in the audit trail, and what its refused twin left."""

    step: Step
    refused: list[int] = field(default_factory=list[int])
    entries_of_refused: int = 0
    entries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


@dataclass
class Course:
    """All steps of the story, and the texts that nobody may read."""

    told: dict[Route, Told]
    secrets: list[str]
    product: Product


@pytest.fixture(scope="module")
def course() -> Course:
    product, told, bodies = Product(), dict[Route, Told](), list[Any]()
    for step in story(product, lambda: bodies[-1]):
        product.follow()
        found = told.setdefault(step.route, Told(step))
        request: dict[str, Any] = {"parameters": step.parameters, "body": step.body}
        before = product.entries
        found.refused.append(product.send(step.route, user_id="stranger", **request).status)
        found.entries_of_refused += len(product.entries) - len(before)
        answer = product.send(step.route, **request)
        assert answer.status == 200, (step.route.key, answer.body)
        bodies.append(answer.body)
        product.follow()
        found.entries += [entry for entry in product.entries if entry not in before]
    keys = [body["apiKey"] for body in bodies if "apiKey" in body]
    return Course(told, [*keys, SECRET], product)


@pytest.mark.parametrize(
    "route", sorted(written_routes() - set(WRITES_WITHOUT_ENTRY), key=str), ids=lambda r: r.key
)
def test_a_write_makes_one_entry_of_its_route(course: Course, route: Route) -> None:
    told = course.told[route]
    (entry,) = told.entries
    assert (entry["operation"], entry["userId"]) == (route.name, "admin")
    assert entry["entity"].startswith(told.step.entity)
    assert entry["changes"]


@pytest.mark.parametrize(
    "route", sorted(written_routes() - set(WRITES_WITHOUT_ENTRY), key=str), ids=lambda r: r.key
)
def test_a_refused_write_makes_none(course: Course, route: Route) -> None:
    told = course.told[route]
    assert set(told.refused) <= {403, 404}
    assert told.entries_of_refused == 0


def test_only_entries_of_creations_are_written_apart_from_what_they_speak_of(
    course: Course,
) -> None:
    of_cognito = {route.name for route in ROUTES if "/user/cognito" in route.path}
    of_cognito -= {routes.LIST_COGNITO_USERS.name}
    assert set(course.product.lonely_entries) == {"create_asset"} | of_cognito


def test_no_entry_holds_a_key_or_what_is_kept_of_it(course: Course) -> None:
    text = str(course.product.entries)
    assert "apiKeyHash" not in text
    assert course.secrets[0].startswith("vams_")
    assert not [secret for secret in course.secrets if secret in text]
