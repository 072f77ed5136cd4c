"""Invalid credentials, each with one fault, and the reason for its refusal."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from joserfc import jwk

from backend.domains.identity.rules.refusals import Reason
from backend.domains.identity.rules.tokens import MAX_CHARS
from tests.factories.identity_provider import (
    CLIENT,
    Key,
    Provider,
    encoded,
    key,
    signed,
)

ABSENT = ...
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Make = Callable[[Provider], str]


def _own() -> jwk.RSAKey:
    result = key()
    assert isinstance(result, jwk.RSAKey)
    return result


def _header(**changes: Any) -> dict[str, Any]:
    header = {"alg": "RS256", "kid": "first", "typ": "JWT", **changes}
    return {name: value for name, value in header.items() if value is not ABSENT}


@dataclass(frozen=True)
class Fault:
    """A token signed with the provider's own key, with one fault in header or claims."""

    header: dict[str, Any] = field(default_factory=dict[str, Any])
    claims: dict[str, Any] = field(default_factory=dict[str, Any])

    def __call__(self, provider: Provider) -> str:
        claims = provider.claims(NOON.timestamp(), **self.claims)
        return signed(_header(**self.header), claims, _own())


def header(**changes: Any) -> Fault:
    return Fault(header=changes)


def claims(**changes: Any) -> Fault:
    return Fault(claims=changes)


def raw_header(text: str) -> Make:
    return lambda provider: signed(text, provider.claims(NOON.timestamp()), _own())


def raw_claims(text: str | bytes) -> Make:
    """`URL` in the text is replaced by the provider's address."""

    def make(provider: Provider) -> str:
        sent = text if isinstance(text, bytes) else text.replace("URL", provider.url)
        return signed(_header(), sent, _own())

    return make


def unsigned(algorithm: str) -> Make:
    def make(provider: Provider) -> str:
        head = encoded(_header(alg=algorithm))
        return f"{head}.{encoded(provider.claims(NOON.timestamp()))}."

    return make


def mangled(change: Callable[[str], str]) -> Make:
    return lambda provider: change(provider.token(at=NOON.timestamp()))


def signed_by(by: Callable[[], Key], algorithm: str = "RS256", **changes: Any) -> Make:
    """A token signed with another key, under the id of the provider's key."""

    def make(provider: Provider) -> str:
        from joserfc import jws

        head, payload = _header(alg=algorithm, **changes), provider.claims(NOON.timestamp())
        return jws.serialize_compact(head, json.dumps(payload), by(), algorithms=[algorithm])

    return make


def hmac_with(secret: Callable[[], bytes], algorithm: str = "HS256") -> Make:
    """A token signed with the public key as a shared secret."""

    def make(provider: Provider) -> str:
        text = f"{encoded(_header(alg=algorithm))}.{encoded(provider.claims(NOON.timestamp()))}"
        digest = hmac.new(secret(), text.encode(), hashlib.sha256).digest()
        return f"{text}.{encoded(digest)}"

    return make


def _pem() -> bytes:
    return _own().as_pem(private=False)


def _published() -> bytes:
    return json.dumps(_own().as_dict(private=False)).encode()


def _changed(token: str, part: int, change: Callable[[str], str]) -> str:
    parts = token.split(".")
    parts[part] = change(parts[part])
    return ".".join(parts)


def _flipped(part: str) -> str:
    raw = bytearray(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    raw[len(raw) // 2] ^= 1
    return encoded(bytes(raw))


def _pss_with_short_salt(provider: Provider) -> str:
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    text = f"{encoded(_header(alg='PS256'))}.{encoded(provider.claims(NOON.timestamp()))}"
    private = _own().private_key
    assert isinstance(private, RSAPrivateKey)
    signature = private.sign(text.encode(), PSS(MGF1(SHA256()), 0), SHA256())
    return f"{text}.{encoded(signature)}"


def _as_encrypted(provider: Provider) -> str:
    return provider.token(at=NOON.timestamp()) + ".aXY.dGFn"


def _within_another(provider: Provider) -> str:
    inner = provider.token(at=NOON.timestamp())
    return signed(_header(cty="JWT"), inner, _own())


def _with_a_key_of_its_own(provider: Provider) -> str:
    return signed_by(STRANGER, jwk=STRANGER().as_dict(private=False))(provider)


TIME = int(NOON.timestamp())
GOOD = f'"iss":"URL","sub":"ann","aud":"{CLIENT}","iat":{TIME},"exp":{TIME + 3600}'
STRANGER = partial(key, "RSA", "stranger")

TOKENS: dict[str, tuple[Reason, Make]] = {
    # No signature, or one by an algorithm that the sender chose
    "alg none": (Reason.JWT_FORM, unsigned("none")),
    "alg None": (Reason.JWT_FORM, unsigned("None")),
    "alg NONE": (Reason.JWT_FORM, unsigned("NONE")),
    "alg none, signed all the same": (Reason.JWT_ALGORITHM, header(alg="none")),
    "alg nOnE, signed all the same": (Reason.JWT_ALGORITHM, header(alg="nOnE")),
    "alg none and a blank": (Reason.JWT_ALGORITHM, header(alg="none ")),
    "alg empty": (Reason.JWT_ALGORITHM, header(alg="")),
    "alg null": (Reason.JWT_ALGORITHM, header(alg=None)),
    "alg absent": (Reason.JWT_ALGORITHM, header(alg=ABSENT)),
    "alg a list": (Reason.JWT_ALGORITHM, header(alg=["RS256"])),
    "alg in small letters": (Reason.JWT_ALGORITHM, header(alg="rs256")),
    "alg unknown": (Reason.JWT_ALGORITHM, header(alg="RS1")),
    "HS256 by the PEM of the key": (Reason.JWT_ALGORITHM, hmac_with(_pem)),
    "HS256 by the published key": (Reason.JWT_ALGORITHM, hmac_with(_published)),
    "HS256 by nothing": (Reason.JWT_ALGORITHM, hmac_with(bytes)),
    "RS256 said, HMAC made": (Reason.JWT_SIGNATURE, hmac_with(_pem, "RS256")),
    "ES256 for an RSA key": (
        Reason.JWT_ALGORITHM,
        signed_by(lambda: key("EC", "ec", "P-256"), "ES256"),
    ),
    "wrong curve": (
        Reason.JWT_ALGORITHM,
        signed_by(lambda: key("EC", "ec-384", "P-384"), "ES384", kid="curve"),
    ),
    "another algorithm of the same key": (Reason.JWT_SIGNATURE, header(alg="RS512")),
    "PS256 said, RS256 made": (Reason.JWT_SIGNATURE, header(alg="PS256")),
    "PS256 with a short salt": (Reason.JWT_SIGNATURE, _pss_with_short_salt),
    # Invalid signatures
    "signed by a stranger": (Reason.JWT_SIGNATURE, signed_by(STRANGER)),
    "signature of another token": (
        Reason.JWT_SIGNATURE,
        lambda p: _changed(p.token(at=TIME), 2, lambda _: p.token(at=TIME, sub="bo").split(".")[2]),
    ),
    "signature with a bit turned": (
        Reason.JWT_SIGNATURE,
        mangled(lambda token: _changed(token, 2, _flipped)),
    ),
    "claims with a bit turned": (
        Reason.JWT_SIGNATURE,
        lambda p: _changed(
            p.token(at=TIME), 1, lambda _: encoded(p.claims(NOON.timestamp(), sub="boss"))
        ),
    ),
    "signature cut": (Reason.JWT_SIGNATURE, mangled(lambda token: token[:-8])),
    "signature of one byte": (
        Reason.JWT_SIGNATURE,
        mangled(lambda token: _changed(token, 2, lambda _: "AA")),
    ),
    "signature of zeros": (
        Reason.JWT_SIGNATURE,
        mangled(lambda token: _changed(token, 2, lambda _: encoded(bytes(256)))),
    ),
    # Keys that the sender names
    "kid unknown": (Reason.JWT_KEY, header(kid="second")),
    "kid absent": (Reason.JWT_HEADER, header(kid=ABSENT)),
    "kid null": (Reason.JWT_HEADER, header(kid=None)),
    "kid empty": (Reason.JWT_HEADER, header(kid="")),
    "kid a number": (Reason.JWT_HEADER, header(kid=1)),
    "kid long": (Reason.JWT_HEADER, header(kid="k" * 257)),
    "kid a path": (Reason.JWT_KEY, header(kid="../../../../dev/null")),
    "kid a query": (Reason.JWT_KEY, header(kid="first' OR '1'='1")),
    "kid in other letters": (Reason.JWT_KEY, header(kid="FIRST")),
    "jku": (Reason.JWT_HEADER, header(jku="https://evil.example/keys")),
    "x5u": (Reason.JWT_HEADER, header(x5u="https://evil.example/cert")),
    "x5c": (Reason.JWT_HEADER, header(x5c=["MIIB"])),
    "jwk": (
        Reason.JWT_HEADER,
        _with_a_key_of_its_own,
    ),
    "crit": (Reason.JWT_HEADER, header(crit=["exp"], exp=TIME)),
    "crit empty": (Reason.JWT_HEADER, header(crit=[])),
    "b64 false": (Reason.JWT_HEADER, header(b64=False, crit=["b64"])),
    "b64 false without crit": (Reason.JWT_HEADER, header(b64=False)),
    "zip": (Reason.JWT_HEADER, header(zip="DEF")),
    "typ of another kind": (Reason.JWT_HEADER, header(typ="logout+jwt")),
    "typ of a proof": (Reason.JWT_HEADER, header(typ="dpop+jwt")),
    "typ a number": (Reason.JWT_HEADER, header(typ=1)),
    "a token within a token": (Reason.JWT_HEADER, _within_another),
    # Forms
    "one part": (Reason.JWT_FORM, mangled(lambda token: token.split(".")[0])),
    "two parts": (Reason.JWT_FORM, mangled(lambda token: token.rpartition(".")[0])),
    "two parts and a dot": (Reason.JWT_FORM, mangled(lambda t: t.rpartition(".")[0] + ".")),
    "four parts": (Reason.JWT_FORM, mangled(lambda token: token + ".AAAA")),
    "five parts, encrypted": (Reason.JWT_FORM, _as_encrypted),
    "a blank in it": (Reason.JWT_FORM, mangled(lambda token: token.replace(".", " .", 1))),
    "a line after it": (Reason.JWT_FORM, mangled(lambda token: token + "\nX-User: boss")),
    "padding": (Reason.JWT_FORM, mangled(lambda token: _changed(token, 1, lambda p: p + "="))),
    "letters of other base64": (
        Reason.JWT_FORM,
        mangled(lambda token: _changed(token, 2, lambda part: "+/" + part[2:])),
    ),
    "fullwidth dots": (Reason.JWT_FORM, mangled(lambda token: token.replace(".", "\uff0e"))),
    "an invisible letter": (Reason.JWT_FORM, mangled(lambda token: token + "\u200b")),
    "a zero byte": (Reason.JWT_FORM, mangled(lambda token: token + "\0")),
    "half a surrogate": (Reason.JWT_FORM, mangled(lambda token: token + "\ud800")),
    "huge": (Reason.JWT_SIZE, claims(groups=["g" * 100] * 100)),
    "huge by its signature": (Reason.JWT_SIZE, mangled(lambda t: t + "A" * MAX_CHARS)),
    "header a list": (Reason.JWT_FORM, raw_header('["RS256"]')),
    "header nested deeply": (Reason.JWT_FORM, raw_header("[" * 5000)),
    "header twice the same name": (
        Reason.JWT_FORM,
        raw_header('{"alg":"none","kid":"first","alg":"RS256"}'),
    ),
    "header no JSON": (Reason.JWT_FORM, raw_header("alg=RS256")),
    "header of impossible length": (
        Reason.JWT_FORM,
        mangled(lambda token: "A" + token.partition(".")[2].join(["", ""]) + "." + token[4:]),
    ),
    "claims a list": (Reason.JWT_FORM, raw_claims("[]")),
    "claims a text": (Reason.JWT_FORM, raw_claims('"boss"')),
    "claims empty": (Reason.JWT_FORM, raw_claims("")),
    "claims nested deeply": (Reason.JWT_FORM, raw_claims('{"a":' * 1000)),
    "claims twice the same name": (Reason.JWT_FORM, raw_claims(f'{{{GOOD},"sub":"boss"}}')),
    "claims hidden twice": (Reason.JWT_FORM, raw_claims(f'{{{GOOD},"s\\u0075b":"boss"}}')),
    "claims twice within": (Reason.JWT_FORM, raw_claims(f'{{{GOOD},"a":{{"b":1,"b":2}}}}')),
    "claims in UTF-16": (Reason.JWT_FORM, raw_claims("{}".encode("utf-16"))),
    "claims with a mark of order": (Reason.JWT_FORM, raw_claims(b"\xef\xbb\xbf{}")),
    "claims of broken UTF-8": (Reason.JWT_FORM, raw_claims(b'{"sub":"\xff"}')),
    "claims and more": (Reason.JWT_FORM, raw_claims(f"{{{GOOD}}}{{}}")),
    "exp not a number": (Reason.JWT_FORM, raw_claims(f'{{{GOOD},"nbf":NaN}}')),
    # Issuer, audience and times
    "iss of another": (Reason.JWT_ISSUER, claims(iss="https://evil.example")),
    "iss and a slash": (Reason.JWT_ISSUER, lambda p: Fault(claims={"iss": p.url + "/"})(p)),
    "iss in other letters": (Reason.JWT_ISSUER, lambda p: Fault(claims={"iss": p.url.upper()})(p)),
    "iss a list": (Reason.JWT_ISSUER, lambda p: Fault(claims={"iss": [p.url]})(p)),
    "iss absent": (Reason.JWT_ISSUER, claims(iss=ABSENT)),
    "aud of another": (Reason.JWT_AUDIENCE, claims(aud="other-client")),
    "aud empty": (Reason.JWT_AUDIENCE, claims(aud="")),
    "aud no entries": (Reason.JWT_AUDIENCE, claims(aud=[])),
    "aud a list of others": (Reason.JWT_AUDIENCE, claims(aud=["a", "b"])),
    "aud a list with a number": (Reason.JWT_AUDIENCE, claims(aud=[CLIENT, 1])),
    "aud a list in a list": (Reason.JWT_AUDIENCE, claims(aud=[[CLIENT]])),
    "aud an object": (Reason.JWT_AUDIENCE, claims(aud={CLIENT: True})),
    "aud the beginning": (Reason.JWT_AUDIENCE, claims(aud=CLIENT[:-1])),
    "aud absent": (Reason.JWT_CLAIMS, claims(aud=ABSENT)),
    "client_id in the place of aud": (Reason.JWT_CLAIMS, claims(aud=ABSENT, client_id=CLIENT)),
    "token_use refresh": (Reason.JWT_USE, claims(token_use="refresh")),
    "token_use a list": (Reason.JWT_USE, claims(token_use=["id"])),
    "bound to a key": (Reason.JWT_USE, claims(cnf={"jkt": "x"})),
    "about a logout": (Reason.JWT_USE, claims(events={"backchannel-logout": {}})),
    "expired": (Reason.JWT_EXPIRED, claims(exp=TIME - 31)),
    "expired long ago": (Reason.JWT_EXPIRED, claims(exp=0)),
    "exp absent": (Reason.JWT_CLAIMS, claims(exp=ABSENT)),
    "exp null": (Reason.JWT_CLAIMS, claims(exp=None)),
    "exp a text": (Reason.JWT_CLAIMS, claims(exp=str(TIME + 3600))),
    "exp true": (Reason.JWT_CLAIMS, claims(exp=True)),
    "exp a list": (Reason.JWT_CLAIMS, claims(exp=[TIME + 3600])),
    "exp endless": (Reason.JWT_CLAIMS, raw_claims(f'{{{GOOD[: GOOD.rfind(",")]},"exp":1e999}}')),
    "exp beyond all dates": (Reason.JWT_CLAIMS, claims(exp=10**300)),
    "exp below zero": (Reason.JWT_CLAIMS, claims(exp=-1)),
    "iat in the future": (Reason.JWT_EARLY, claims(iat=TIME + 31)),
    "iat absent": (Reason.JWT_CLAIMS, claims(iat=ABSENT)),
    "iat a text": (Reason.JWT_CLAIMS, claims(iat=str(TIME))),
    "nbf in the future": (Reason.JWT_EARLY, claims(nbf=TIME + 31)),
    "nbf a text": (Reason.JWT_CLAIMS, claims(nbf="0")),
    "nbf null": (Reason.JWT_CLAIMS, claims(nbf=None)),
    # The user
    "sub absent": (Reason.JWT_CLAIMS, claims(sub=ABSENT)),
    "sub null": (Reason.JWT_CLAIMS, claims(sub=None)),
    "sub empty": (Reason.JWT_CLAIMS, claims(sub="")),
    "sub a number": (Reason.JWT_CLAIMS, claims(sub=7)),
    "sub a list": (Reason.JWT_CLAIMS, claims(sub=["boss"])),
    "sub an object": (Reason.JWT_CLAIMS, claims(sub={"boss": 1})),
    "sub short": (Reason.USER, claims(sub="ab")),
    "sub long": (Reason.USER, claims(sub="b" * 257)),
    "sub with a blank": (Reason.USER, claims(sub="boss ")),
    "sub with a line": (Reason.USER, claims(sub="boss\n")),
    "sub with an invisible letter": (Reason.USER, claims(sub="bo\u200bss")),
    "sub written from right to left": (Reason.USER, claims(sub="\u202essob")),
    "sub of wide letters": (Reason.USER, claims(sub="\uff42oss")),
    "sub in pieces": (Reason.USER, claims(sub="bo\u0308ss")),
    "sub half a surrogate": (Reason.USER, claims(sub="boss\ud800")),
    "sub the product itself": (Reason.USER, claims(sub="SYSTEM")),
    "sub the product in small letters": (Reason.USER, claims(sub="system")),
    "sub nobody": (Reason.USER, claims(sub="anonymous")),
}

KEY = "vams_" + "k" * 64
HEADERS: dict[str, tuple[Reason, str]] = {
    "nothing": (Reason.NO_CREDENTIALS, ""),
    "a word": (Reason.NO_CREDENTIALS, "boss"),
    "another scheme": (Reason.NO_CREDENTIALS, "Basic Ym9zczpib3Nz"),
    "a scheme and nothing": (Reason.NO_CREDENTIALS, "Bearer"),
    "a scheme and blanks": (Reason.NO_CREDENTIALS, "Bearer   "),
    "another scheme and a key": (Reason.NO_CREDENTIALS, f"Basic {KEY}"),
    "a bare token": (Reason.NO_CREDENTIALS, "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJib3NzIn0.c2ln"),
    "two schemes": (Reason.JWT_FORM, f"Bearer Bearer {KEY}"),
    "two keys": (Reason.NO_CREDENTIALS, f"{KEY},{KEY}"),
    "a key unknown": (Reason.KEY_UNKNOWN, "vams_" + "x" * 64),
    "a key one letter off": (Reason.KEY_UNKNOWN, KEY[:-1] + "l"),
    "a key cut": (Reason.NO_CREDENTIALS, KEY[:40]),
    "a key one shorter": (Reason.KEY_UNKNOWN, KEY[:-1]),
    "a key one longer": (Reason.KEY_UNKNOWN, KEY + "k"),
    "a key far longer": (Reason.NO_CREDENTIALS, KEY + "k" * 300),
    "a key in capitals": (Reason.NO_CREDENTIALS, KEY.upper()),
    "a key with its prefix in capitals": (Reason.NO_CREDENTIALS, "VAMS_" + KEY[5:]),
    "a key with its rest in capitals": (Reason.KEY_UNKNOWN, "vams_" + KEY[5:].upper()),
    "a key without prefix": (Reason.NO_CREDENTIALS, KEY[5:]),
    "a key with another prefix": (Reason.NO_CREDENTIALS, "vitr_" + KEY[5:]),
    "a key after Bearer without prefix": (Reason.JWT_FORM, f"Bearer {KEY[5:]}"),
    "a key with a letter that looks alike": (Reason.NO_CREDENTIALS, KEY[:-1] + "\u043a"),
    "a key disabled": (Reason.KEY_DISABLED, "vams_" + "d" * 64),
    "a key expired by a day": (Reason.KEY_EXPIRED, "vams_" + "e" * 64),
    "a key expired this second": (Reason.KEY_EXPIRED, "vams_" + "t" * 64),
    "a key whose expiry is no date": (Reason.KEY_EXPIRED, "vams_" + "u" * 64),
    "a key of the product itself": (Reason.USER, "vams_" + "s" * 64),
}
STORED: dict[str, dict[str, str]] = {
    "k": {"expiresAt": "2026-03-01"},
    "d": {"isActive": "false"},
    "e": {"expiresAt": "2026-02-28"},
    "t": {"expiresAt": "2026-03-01T12:00:00Z"},
    "u": {"expiresAt": "some day"},
    "s": {"userId": "SYSTEM"},
}
