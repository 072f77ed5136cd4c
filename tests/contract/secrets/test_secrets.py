"""The contract of the secrets of a deployment, on the engine of the local runtime.

`backend.aws.secrets` is not a port: AWS, and moto in its place, are its only engines.
"""

from typing import TYPE_CHECKING

import pytest
from botocore.config import Config

from backend.aws.secrets import Secrets
from backend.aws.settings import Settings
from backend.core.errors import UnavailableError
from backend.core.ids import new_uuid
from backend.spec.secrets import ADMIN_API_KEY, PAGE_TOKEN_KEY
from tests.engines import session

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

NAMED = (ADMIN_API_KEY, PAGE_TOKEN_KEY)


@pytest.fixture
def client(moto_url: str) -> "SecretsManagerClient":
    return session().client("secretsmanager", endpoint_url=moto_url)


@pytest.fixture
def settings(client: "SecretsManagerClient") -> Settings:
    """Two secrets, by ARN as the templates name them."""
    arns = {
        secret: client.create_secret(
            Name=f"{secret.name}-{new_uuid()}", SecretString=f"first {secret.name} ä"
        )["ARN"]
        for secret in NAMED
    }
    return Settings({f"SECRET_{secret.name}": arn for secret, arn in arns.items()})


def test_a_secret_is_what_was_stored(client: "SecretsManagerClient", settings: Settings) -> None:
    secrets = Secrets(client, settings)
    assert secrets.value(ADMIN_API_KEY) == "first AdminApiKey ä"
    assert secrets.value(PAGE_TOKEN_KEY) == "first PageTokenKey ä"


def test_a_secret_is_read_once(client: "SecretsManagerClient", settings: Settings) -> None:
    secrets = Secrets(client, settings)
    first = secrets.value(ADMIN_API_KEY)
    client.put_secret_value(SecretId=settings.secret(ADMIN_API_KEY), SecretString="second")
    assert secrets.value(ADMIN_API_KEY) == first
    assert Secrets(client, settings).value(ADMIN_API_KEY) == "second"


def test_a_replaced_secret_is_the_new_one_for_everybody(
    client: "SecretsManagerClient", settings: Settings
) -> None:
    secrets = Secrets(client, settings)
    secrets.replace(ADMIN_API_KEY, "vams_new")
    assert secrets.value(ADMIN_API_KEY) == "vams_new"
    assert Secrets(client, settings).value(ADMIN_API_KEY) == "vams_new"


def test_an_engine_that_does_not_answer_is_an_outage(settings: Settings) -> None:
    nowhere = session().client(
        "secretsmanager",
        endpoint_url="http://127.0.0.1:9",
        config=Config(connect_timeout=1, retries={"total_max_attempts": 1}),
    )
    with pytest.raises(UnavailableError):
        Secrets(nowhere, settings).value(ADMIN_API_KEY)
