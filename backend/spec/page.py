"""Headers, a cookie and a custom resource that the stack of the page and the functions share."""

PROOF_HEADER = "x-vitrine-edge"
"""Has the secret `PageEdgeKey`, which only the distribution knows."""
VIEWER_HEADER = "x-vitrine-viewer-address"
"""Has the address of the viewer; counts only beside a valid proof."""
PAGE_RECORD = "Custom::Page"
"""The type of the custom resource that records the page: `Url`, and for the sign-in of the user
pool `Issuer` and `ClientId`."""
PAGE_KEY = "Page"
"""The key of the record among the reservations."""

SESSION_COOKIE = "__Host-vitrine"
"""Has the text of a session, which begins with `vams_` and the session's id."""
SESSION_HEADER = "x-vitrine-session"
"""Has the id of the session that the page believes in. Only with this header, which no form and no
page of another origin can send, does the cookie become `Authorization`."""
SESSION_PATH = "/auth/session"
"""The path at which a credential in `Authorization` replaces the cookie."""
SESSION_ID = (len("vams_"), len("vams_") + 36)
"""Start and end of the session's id, a UUID, in its text."""
