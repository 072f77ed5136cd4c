"""Sign-in: its settings, and their effect on the templates."""

from typing import Any

import pytest

from infra.settings import Settings, SettingsError, read_settings
from infra.settings.values import address_range
from tests.infra.contexts import ISSUER


def settings(**stage: object) -> Settings:
    stages = {"test": stage}
    return read_settings({"stage": "test", "stages": stages}.get)


def values(**stage: object) -> dict[str, str]:
    return settings(**stage).environment()


def test_a_stage_without_settings_accepts_no_tokens_and_checks_no_addresses() -> None:
    names = ("OIDC_ISSUER", "OIDC_AUDIENCES", "ALLOWED_ADDRESSES")
    assert {values()[name] for name in names} == {""}


def test_tokens_are_for_the_web_client_unless_audiences_are_named() -> None:
    assert values(oidcIssuer=ISSUER, oidcClientId="web")["OIDC_AUDIENCES"] == "web"
    named = values(oidcIssuer=ISSUER, oidcClientId="web", oidcAudiences=["a", "b"])
    assert named["OIDC_AUDIENCES"] == "a,b"


@pytest.mark.parametrize(
    ("stage", "fact"),
    [
        ({"oidcIssuer": ISSUER}, "needs oidcAudiences"),
        ({"oidcAudiences": ["a"]}, "because oidcIssuer is empty"),
        ({"oidcClientId": "web"}, "because oidcIssuer is empty"),
        ({"oidcIssuer": "http://login.example.org", "oidcClientId": "web"}, "oidcIssuer"),
        ({"oidcIssuer": "https://a@b.example", "oidcClientId": "web"}, "oidcIssuer"),
        ({"oidcIssuer": "https://a.example?x", "oidcClientId": "web"}, "oidcIssuer"),
        ({"oidcIssuer": "login.example.org", "oidcClientId": "web"}, "oidcIssuer"),
        ({"oidcIssuer": ISSUER, "oidcAudiences": ["a,b"]}, "oidcAudiences"),
        ({"oidcIssuer": ISSUER, "oidcAudiences": [""]}, "oidcAudiences"),
        ({"oidcIssuer": ISSUER, "oidcClientId": "w", "userPool": True}, "oidcUserPrefix"),
        ({"userPoolFirewall": True}, "userPoolFirewall has no effect, because userPool is false"),
        ({"userPool": True, "userPoolRequestsPerAddress": 9}, "userPoolRequestsPerAddress"),
        ({"oidcUserPrefix": "a b"}, "oidcUserPrefix"),
        ({"oidcUserClaim": ""}, "oidcUserClaim"),
        (
            {"oidcIssuer": "https://a.example.org;x"},
            "oidcIssuer: must be an https address of a host",
        ),
        ({"oidcIssuer": "https://a.example.org:99999"}, "oidcIssuer: must have a port from 1 to"),
        (
            {"pageSignInOrigins": ["https://a.example.org:99999"]},
            "pageSignInOrigins.0: must have a port from 1 to 65535, and has 99999",
        ),
        ({"pageEdgeVersion": "AWSCURRENT"}, "must be the id of a version of a secret, such as 1"),
        *(
            ({"webUrl": f"https://{host}"}, "webUrl: must be an origin such as")
            for host in ("a.org/app", "*.a.org", "A.org", "a@a.org", "a.org:")
        ),
        ({"webUrl": "https://a.org:70000"}, "webUrl: must have a port from 1 to 65535, and has 7"),
        ({"webUrl": "https://a.org:443"}, "webUrl: must not name the port 443, which browsers"),
        ({"pageDomain": "https://a.example.org"}, "pageDomain: must be a domain name"),
        ({"pageDomain": "10.0.0.1"}, "pageDomain: must be a domain name, and is an address"),
        ({"pageDomain": "d1.cloudfront.net"}, "pageDomain: must be a domain of yours, and cloudf"),
        ({"pageDomain": "a." * 127 + "org"}, "pageDomain: must have at most 253 characters, and"),
        ({"allowedIpRanges": ["10.0.0.0/33"]}, "allowedIpRanges"),
        ({"allowedIpRanges": "10.0.0.0/8"}, "allowedIpRanges"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(stage: dict[str, Any], fact: str) -> None:
    with pytest.raises(SettingsError, match=fact):
        settings(**stage)


@pytest.mark.parametrize(
    ("providers", "fact"),
    [
        ({"COGNITO": {}}, "COGNITO: must not be COGNITO, which names the users of the pool"),
        ({"Okta": {"attributes": {"nosuch": "x"}}}, "Okta.attributes: .*, and it has no nosuch"),
        (
            {"Okta": {"metadataURI": "https://a.example.org"}},
            "Okta.metadataURI: is not a setting; the nearest is metadataUrl$",
        ),
    ],
)
def test_a_provider_that_cognito_would_refuse_is_refused_first(
    providers: dict[str, Any], fact: str
) -> None:
    with pytest.raises(SettingsError, match=rf"^stages\.test\.userPoolProviders\.{fact}"):
        settings(page=True, userPool=True, userPoolDomain="museum", userPoolProviders=providers)


@pytest.mark.parametrize("issuer", ["http://127.0.0.1:9000", "http://localhost/realms/a"])
def test_a_provider_on_this_machine_needs_no_tls(issuer: str) -> None:
    assert settings(oidcIssuer=issuer, oidcClientId="web").oidc_issuer == issuer


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("192.0.2.0/24", "192.0.2.0-192.0.2.255"),
        ("192.0.2.7", "192.0.2.7-192.0.2.7"),
        ("2001:db8::/126", "2001:db8::-2001:db8::3"),
        ("192.0.2.1 - 192.0.2.9", "192.0.2.1-192.0.2.9"),
        (["192.0.2.1", "192.0.2.9"], "192.0.2.1-192.0.2.9"),
        (("2001:db8::1", "2001:DB8:0::2"), "2001:db8::1-2001:db8::2"),
    ],
)
def test_ranges_may_be_written_as_people_write_them(written: object, read: str) -> None:
    assert address_range(written) == read


@pytest.mark.parametrize(
    "written",
    [
        *("", "localhost", "192.0.2.1/24", "192.0.2.0/33", "192.0.2.9-192.0.2.1", "1-2-3", "0.0.0"),
        *("192.0.2.1-2001:db8::1", ["192.0.2.1"], ["a", "b"], [], {}, None, 7, True),
    ],
    ids=str,
)
def test_what_is_no_range_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match=r"address|network|has host bits|not appear"):
        address_range(written)


OIDC = {"issuer": ISSUER, "clientId": "c", "clientSecret": "okta"}


@pytest.mark.parametrize(
    ("stage", "fact"),
    [
        ({"userPoolDomain": "Museum"}, "userPoolDomain: must be a prefix such as museum-models"),
        ({"userPoolDomain": "a.example.org"}, "userPoolDomain: must be a prefix"),
        ({"userPoolDomain": "our-cognito"}, "must not contain cognito, which Cognito reserves"),
        ({"userPoolProviders": {"a b": OIDC}}, "must be named by 3 to 32 letters and digits"),
        ({"userPoolProviders": {"Okta": {}}}, "needs a metadataUrl, or else issuer, clientId"),
        (
            {"userPoolProviders": {"Okta": {**OIDC, "clientSecret": ""}}},
            "needs a metadataUrl, or else issuer, clientId and clientSecret",
        ),
        (
            {"userPoolProviders": {"Okta": {**OIDC, "metadataUrl": "https://a.example.org"}}},
            "needs a metadataUrl, or else issuer, clientId and clientSecret",
        ),
        (
            {"userPoolProviders": {"Okta": {"metadataUrl": "http://a.example.org"}}},
            "must be an address that begins with https://",
        ),
    ],
)
def test_a_sign_in_that_cognito_would_refuse_is_refused_first(
    stage: dict[str, Any], fact: str
) -> None:
    of_stage = {"page": True, "userPool": True, "userPoolDomain": "museum", **stage}
    with pytest.raises(SettingsError, match=fact):
        settings(**of_stage)
