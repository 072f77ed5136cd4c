"""Parses tokens and verifies signatures: JSON Web Tokens in compact form.

As RFC 8725 recommends, the algorithm is one of a fixed list and fits the key, whatever the token
names; URLs in headers are never fetched; unknown content is rejected.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from backend.domains.identity.rules.key_sets import ALGORITHMS, SigningKey
from backend.domains.identity.rules.refusals import Reason, RefusedError

# Maximum length of a token. API Gateway limits all headers to 10 KB; tokens of Cognito have one to
# two.
MAX_CHARS = 8192

# It is compared with ids of keys before any signature is verified.
_MAX_KID = 256
_FORM = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt", "application/jwt"})
# Headers that select other ways of signing, or keys that the sender chooses. Tokens of providers
# have none of them. `x5t`, which some have, only identifies a certificate.
_REFUSED_HEADERS = frozenset(
    {"b64", "crit", "cty", "enc", "epk", "jku", "jwk", "p2c", "x5c", "x5u", "zip"}
)

_signatures = PyJWS(algorithms=sorted(ALGORITHMS))


class Unverified(NamedTuple):
    """The unverified content of a token, to find the key of its signature."""

    algorithm: str
    key_id: str
    issuer: str


def parse_unverified(token: str) -> Unverified:
    """Return the unverified content of a token.

    Raises:
        RefusedError: the text is not a token, or is of an unsupported kind.
    """
    if len(token) > MAX_CHARS:
        raise RefusedError(Reason.JWT_SIZE)
    # Before decoding: decoders accept more than one form of the same bytes.
    if not _FORM.fullmatch(token):
        raise RefusedError(Reason.JWT_FORM)
    first, second, _ = token.split(".")
    header = _object(_decode(first))
    algorithm = header.get("alg")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise RefusedError(Reason.JWT_ALGORITHM)
    key_id, kind = header.get("kid"), header.get("typ", "JWT")
    if not isinstance(key_id, str) or not 0 < len(key_id) <= _MAX_KID:
        raise RefusedError(Reason.JWT_HEADER)
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise RefusedError(Reason.JWT_HEADER)
    if not _REFUSED_HEADERS.isdisjoint(header):
        raise RefusedError(Reason.JWT_HEADER)
    issuer = _object(_decode(second)).get("iss")
    if not isinstance(issuer, str):
        raise RefusedError(Reason.JWT_ISSUER)
    return Unverified(algorithm, key_id, issuer)


def verified_claims(token: str, algorithm: str, key: SigningKey) -> Mapping[str, Any]:
    """Return the claims of a token after verifying its signature with this key.

    Raises:
        RefusedError: the signature is invalid, or the key is not for this algorithm.
    """
    if algorithm not in key.algorithms:
        raise RefusedError(Reason.JWT_ALGORITHM)
    try:
        payload = _signatures.decode(token, key=key.public, algorithms=[algorithm])
    except PyJWTError:
        raise RefusedError(Reason.JWT_SIGNATURE) from None
    return _object(cast("bytes", payload))


def parse_object(text: bytes) -> dict[str, Any]:
    """Parse a JSON object in UTF-8 without repeated names.

    Raises:
        ValueError: the text is not such an object.
    """
    try:
        content: object = json.loads(
            text.decode("utf-8"), object_pairs_hook=_different, parse_constant=_no_number
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("not an object")  # noqa: TRY004 - one error for every form
    return cast("dict[str, Any]", content)


def _object(text: bytes) -> dict[str, Any]:
    try:
        return parse_object(text)
    except ValueError:
        raise RefusedError(Reason.JWT_FORM) from None


def _decode(part: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error:
        raise RefusedError(Reason.JWT_FORM) from None


def _different(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name is used twice")
    return members


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")
