"""Requests of stock clients to a deployment with a user pool and an external provider."""

from collections.abc import Mapping
from dataclasses import replace

import httpx
import pytest

from backend.domains.configuration.models import Endpoints, SignInProvider
from backend.domains.configuration.repository import FeatureRepository
from backend.domains.configuration.routes import build_router as configuration_router
from backend.domains.configuration.service import ConfigurationService
from tests.factories.administration import Parts
from tests.factories.http import Client
from tests.fakes.user_pool import MemoryUserPool
from tests.journeys import stock

ISSUER = "https://idp.example.org"
NAMES = {"issuer": ISSUER, "sub": "ann", "person": "corp.ann", "pooluser": "zoe"}
REQUESTS = stock.recorded(stock.RECORDED / "signing_in")


@pytest.fixture
def clients(parts: Parts) -> Mapping[str, Client]:
    """A client for the first part of each path."""
    pool = MemoryUserPool()
    pool.create_user("zoe", email="zoe@example.org", phone=None)
    parts = replace(parts, pool=pool, provider_prefix="corp.")
    access = parts.services().router()
    endpoints = Endpoints(f"{ISSUER}/authorize", f"{ISSUER}/token", f"{ISSUER}/about")
    configuration = ConfigurationService(
        features=FeatureRepository(parts.tables),
        region="eu-central-1",
        web_url="",
        openapi=dict,
        provider=SignInProvider(ISSUER, "web", "openid email", "", lambda: endpoints),
    )
    return {
        "api": Client(configuration_router(configuration), user_id=None),
        "auth": Client(access, user_id="corp.ann", subject="ann"),
        "user": Client(access),
    }


def test_stock_clients_are_served(clients: Mapping[str, Client]) -> None:
    """All requests in their order: later ones use what earlier ones kept."""
    names, found = dict(NAMES), dict[str, list[str]]()
    for request in REQUESTS:
        method, place = request.call.split(" ", 1)
        path = str(stock.filled(place, names))
        answer = clients[path.split("/")[1]].send(
            method,
            path,
            parameters={"userId": path.split("/")[3]} if "$" in place else None,
            query=stock.filled(request.query, names),
            body=stock.filled(request.body, names),
            headers={"host": "api.example.org"},
        )
        reply = httpx.Response(answer.status, json=answer.body)
        if broken := stock.problems(request, reply, request.expected, names):
            found[request.name] = broken
        else:
            names |= stock.kept(request, reply)
    assert found == {}
