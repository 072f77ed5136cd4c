"""The two versions that the product reports: of its contract, and its own."""

CONTRACT_VERSION = "2.5.1"
"""The VAMS release whose REST contract is kept; VAMS clients compare it with theirs."""

PRODUCT_VERSION = "0.1.0"
"""As in pyproject.toml, which a deployed function does not have."""
