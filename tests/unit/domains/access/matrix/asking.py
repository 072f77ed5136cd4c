"""Puts together how each route asks: by itself, by its domain, or by the type of its object."""

from backend.spec.routes import ASSET_PATH, Route
from tests.unit.domains.access.matrix import asking_assets, asking_others
from tests.unit.domains.access.matrix.roles import Role
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.states import State
from tests.unit.domains.access.matrix.world import Question


def question(world: Seeded, route: Route, role: Role, state: State) -> Question:
    """The request by which a route asks for an object in a state."""
    found = (
        asking_assets.BY_ROUTE.get(route)
        or asking_others.BY_ROUTE.get(route)
        or asking_assets.BY_DOMAIN.get(route.domain)
        or asking_others.BY_TYPE.get(route.object_type)
    )
    if found is None and route.path.startswith(f"{ASSET_PATH}") and "{assetId}" in route.path:
        found = asking_assets.about_an_asset
    return (found or asking_others.plain)(world, route, role, state)
