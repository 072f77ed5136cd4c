"""Responses to requests of clients of a later VAMS release."""

from backend.core.errors import NotFoundError, NotServedError
from backend.http.call import Call
from backend.http.metrics import count
from backend.http.router import Content, Router
from backend.spec.metrics import ROUTES_NOT_SERVED
from backend.spec.routes import Route
from backend.spec.routes.later import LATER_ROUTES, find_later


def later_router() -> Router:
    """Bind the routes that are not served to one function, which refuses them."""
    router = Router()

    def refuse_later_route(call: Call) -> Content:
        later = find_later(call.route.method, call.route.path, call.path.get("proxy", ""))
        if later is None:
            raise NotFoundError("There is no route with this path and method")
        count(ROUTES_NOT_SERVED)
        raise NotServedError(later.sentence)

    for later in {(route.method, route.pattern): route for route in LATER_ROUTES}.values():
        router.bind(
            Route(
                later.method,
                later.pattern,
                "configuration",
                "refuse_later_route",
                "Refuse a route of a later VAMS release",
                open_to_users=True,
            )
        )(refuse_later_route)
    return router
