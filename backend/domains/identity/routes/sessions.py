"""The routes of sessions."""

from backend.domains.identity.models.keys import EndedSessionReply, SessionReply
from backend.domains.identity.service.sessions import SessionService
from backend.http.call import Call
from backend.http.router import Cookie, Reply, Router
from backend.spec import routes
from backend.spec.page import SESSION_COOKIE


def bind_sessions(router: Router, service: SessionService) -> None:
    """Bind the routes of sessions to the service."""

    @router.bind(routes.CREATE_SESSION)
    def create_session(call: Call) -> Reply[SessionReply]:
        session, text, seconds = service.create_session(call.caller, call.headers)
        return Reply(
            SessionReply(
                session_id=session.api_key_id,
                user_id=session.user_id,
                expires_at=session.expires_at,
            ),
            cookie=Cookie(SESSION_COOKIE, text, seconds),
        )

    @router.bind(routes.DELETE_SESSION)
    def delete_session(call: Call) -> Reply[EndedSessionReply]:
        service.delete_session(call.caller)
        return Reply(
            EndedSessionReply(message="The session has ended"), cookie=Cookie(SESSION_COOKIE, "", 0)
        )
