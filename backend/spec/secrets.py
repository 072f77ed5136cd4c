"""Generated secrets. Secrets Manager generates the values; they are in no template."""

from backend.values import frozen


@frozen
class Secret:
    """A generated secret; `length` is the number of random letters and digits."""

    name: str
    description: str
    length: int = 64


API_KEY_PEPPER = Secret("ApiKeyPepper", "Key of the HMAC under which API keys are stored.")
PAGE_TOKEN_KEY = Secret("PageTokenKey", "Signs page tokens.")
ADMIN_API_KEY = Secret(
    "AdminApiKey",
    "The administrator's API key as clients send it, after bootstrap has added the prefix `vams_`.",
)
PAGE_EDGE_KEY = Secret("PageEdgeKey", "Proves that a request came through the page's distribution.")

SECRETS = (API_KEY_PEPPER, PAGE_TOKEN_KEY, ADMIN_API_KEY, PAGE_EDGE_KEY)
