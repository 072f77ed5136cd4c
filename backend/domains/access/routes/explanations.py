"""The route that explains decisions."""

from backend.domains.access.models.explanations import ExplainQuery, ExplainReply
from backend.domains.access.service.explanations import ExplainService
from backend.http.call import Call
from backend.http.router import Router
from backend.spec import routes


def bind_explanations(router: Router, service: ExplainService) -> None:
    """Bind the route to the service."""

    @router.bind(routes.EXPLAIN_ACCESS)
    def explain_access(call: Call, query: ExplainQuery) -> ExplainReply:
        return service.explain_access(call.caller, query)
