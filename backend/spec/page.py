"""Headers and a custom resource that the stack of the page and the functions share."""

PROOF_HEADER = "x-vitrine-edge"
"""Has the secret `PageEdgeKey`, which only the distribution knows."""
VIEWER_HEADER = "x-vitrine-viewer-address"
"""Has the address of the viewer; counts only beside a valid proof."""
PAGE_RECORD = "Custom::Page"
"""The type of the custom resource that records the page: `Url`, and for the sign-in of the user
pool `Issuer` and `ClientId`."""
PAGE_KEY = "Page"
"""The key of the record among the reservations."""
