"""Documents of identity providers are asked for in the public internet only."""

import pytest

from backend.aws.documents import HttpDocuments
from backend.core.errors import UnavailableError


@pytest.mark.parametrize(
    "url",
    [
        "https://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/jwks.json",
        "https://127.0.0.1/jwks.json",
        "http://127.0.0.1/jwks.json",
        "https://[::ffff:169.254.169.254]/",
        "file:///etc/passwd",
    ],
)
def test_no_provider_leads_into_a_private_network(url: str) -> None:
    with pytest.raises(UnavailableError, match="is not asked"):
        HttpDocuments().read(url)


@pytest.mark.parametrize("url", ["https://169.254.169.254/", "http://10.0.0.1/", "http://0.0.0.0/"])
def test_a_provider_on_this_machine_leads_nowhere_else_either(url: str) -> None:
    with pytest.raises(UnavailableError, match="is not asked"):
        HttpDocuments(loopback=True).read(url)
