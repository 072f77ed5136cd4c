"""moto's server: uses another account, and loses its data at its end."""

import pytest
from botocore.exceptions import ClientError

from local.engines import Options
from tests.integration.local.engines.support import Site

ENGINE = "aws"


def test_a_secret_is_kept_until_the_server_ends(site: Site) -> None:
    made = site.clients.secrets.create_secret(Name="pepper", SecretString="x")
    assert f":{Options().account}:" in made["ARN"]
    assert site.clients.secrets.get_secret_value(SecretId="pepper")["SecretString"] == "x"
    site.crash_and_restart()
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        site.clients.secrets.get_secret_value(SecretId="pepper")
