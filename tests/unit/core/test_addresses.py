"""Which addresses belong to the public internet."""

import pytest

from backend.core.addresses import is_local, is_public

PRIVATE = [
    *("0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"),
    *("169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.2.1"),
    *("192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250"),
    *("240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:127.0.0.1"),
    *("::ffff:169.254.169.254", "::ffff:0:10.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1"),
    *("64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::1", "2002:a9fe:a9fe::1"),
    *("5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2606:4700:4700::1111"]


def test_an_address_is_public_only_on_the_internet() -> None:
    assert [address for address in PRIVATE if is_public(address)] == []
    assert [address for address in PUBLIC if not is_public(address)] == []


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:9/realm", True),
        ("http://[::1]/", True),
        ("http://localhost/", True),
        ("https://127.0.0.1/", False),
        ("http://127.0.0.1.example.org/", False),
        ("http://127.0.0.1@example.org/", False),
        ("http://10.0.0.1/", False),
    ],
)
def test_only_http_to_this_machine_is_local(url: str, local: bool) -> None:
    assert is_local(url) == local
