"""The keys that a provider publishes (JWKS, RFC 7517), filtered to those that may sign tokens."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

# Providers publish a few, during a rotation two sets; each is parsed at every read.
MAX_KEYS = 100
# RFC 7518, section 3.3, requires at least 2,048.
_RSA_BITS = range(2048, 8193)
_RSA = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
_CURVES = {"P-256": "ES256", "P-384": "ES384", "Ed25519": "EdDSA"}
ALGORITHMS = _RSA | frozenset(_CURVES.values())
"""Accepted signature algorithms. All use a public key."""


class SigningKey(NamedTuple):
    """A public key, and its algorithms."""

    public: RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey
    algorithms: frozenset[str]


def usable_keys(document: Mapping[str, Any]) -> dict[str, SigningKey]:
    """Return the usable signature keys of a set, by id.

    Of keys with the same id, the first is used.

    Raises:
        ValueError: the document is not a key set, or has more than `MAX_KEYS`.
    """
    listed: object = document.get("keys")
    if not isinstance(listed, list):
        raise ValueError("it has no list of keys (`keys`)")  # noqa: TRY004 - one error for every form
    entries = cast("list[object]", listed)
    if len(entries) > MAX_KEYS:
        raise ValueError(f"it has more than {MAX_KEYS} keys")
    keys: dict[str, SigningKey] = {}
    for entry in entries:
        if isinstance(entry, dict):
            key = _key(cast("dict[str, Any]", entry))
            if key is not None:
                keys.setdefault(*key)
    return keys


def _key(entry: dict[str, Any]) -> tuple[str, SigningKey] | None:
    """Return the id and the key; None for one that cannot verify a token."""
    key_id, algorithms = entry.get("kid"), _algorithms(entry)
    operations: object = entry.get("key_ops", ["verify"])
    verifies = isinstance(operations, list) and "verify" in operations
    # A published private key is not secret.
    is_public = "d" not in entry and entry.get("use", "sig") == "sig"
    if not isinstance(key_id, str) or not (key_id and algorithms and verifies and is_public):
        return None
    try:
        public = cast("object", PyJWK(entry, min(algorithms)).key)
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None
    if isinstance(public, RSAPublicKey) and public.key_size not in _RSA_BITS:
        return None
    if isinstance(public, RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey):
        return key_id, SigningKey(public, algorithms)
    return None


def _algorithms(entry: Mapping[str, Any]) -> frozenset[str]:
    """Return the algorithms of the key's type, or only the one that the key names."""
    kind, curve, named = entry.get("kty"), entry.get("crv"), entry.get("alg")
    able: frozenset[str] = frozenset()
    if kind == "RSA":
        able = _RSA
    elif kind in ("EC", "OKP") and isinstance(curve, str) and curve in _CURVES:
        able = frozenset({_CURVES[curve]})
    return able if named is None else able & {named} if isinstance(named, str) else frozenset()
