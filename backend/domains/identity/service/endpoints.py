"""The sign-in endpoints of an identity provider, from its discovery document."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from backend.core.clock import Clock
from backend.core.errors import UnavailableError
from backend.core.remote_json import RemoteJson
from backend.domains.identity.rules.discovery import (
    SignInEndpoints,
    discovery_url,
    sign_in_endpoints,
)
from backend.domains.identity.rules.tokens import parse_object

# Time for which endpoints are cached before the document is read again, as for keys.
FRESH = timedelta(minutes=10)


@dataclass
class _Known:
    endpoints: SignInEndpoints | None = None
    read_at: datetime | None = None


@dataclass(eq=False, repr=False)
class ProviderEndpoints:
    """The endpoints of one provider, read when they are first needed and cached."""

    remote_json: RemoteJson
    clock: Clock
    issuer: str

    _known: _Known = field(default_factory=_Known)

    def get(self) -> SignInEndpoints:
        """Return the endpoints, or the cached ones while the provider does not respond.

        Raises:
            UnavailableError: the provider has not returned a usable document yet.
        """
        known, now = self._known, self.clock()
        if (
            known.endpoints is not None
            and known.read_at is not None
            and now < known.read_at + FRESH
        ):
            return known.endpoints
        try:
            document = parse_object(self.remote_json.read(discovery_url(self.issuer)))
            known.endpoints = sign_in_endpoints(document, self.issuer)
        except (UnavailableError, ValueError) as error:
            if known.endpoints is None:
                raise UnavailableError(f"The identity provider {self.issuer}: {error}") from error
        known.read_at = now
        return known.endpoints
