"""Determines which functions are in the network of the search domain, and their endpoints."""

from collections.abc import Iterable

from backend.spec.functions import Function


def in_network(spec: Function) -> bool:
    """Return whether the function is placed in the network; others keep their internet access."""
    return spec.search != "none"


def endpoint_services(functions: Iterable[Function]) -> list[str]:
    """Return the services that functions in the network call, except tables and buckets.

    Each has an interface endpoint in every zone. Tables and buckets have gateway endpoints, which
    are free.
    """
    inside = [spec for spec in functions if in_network(spec)]
    used = {
        "secretsmanager": any(spec.secrets for spec in inside),
        "sns": any(spec.topics for spec in inside),
        "sqs": any(spec.sends or spec.redrives for spec in inside),
        "cognito-idp": any(spec.user_pool in {"read", "administered"} for spec in inside),
    }
    return sorted(service for service, is_used in used.items() if is_used)
