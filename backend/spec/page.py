"""Headers with which the page's distribution sends requests to the API."""

PROOF_HEADER = "x-vitrine-edge"
"""Has the secret `PageEdgeKey`, which only the distribution knows."""
VIEWER_HEADER = "x-vitrine-viewer-address"
"""Has the address of the viewer; counts only beside a valid proof."""
