"""Secrets Manager: the values of generated secrets, each read once per `Secrets`."""

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backend.aws.errors import translated
from backend.aws.settings import Settings
from backend.spec.secrets import Secret

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient


@dataclass(eq=False, repr=False)
class Secrets:
    """The secrets of a deployment."""

    client: "SecretsManagerClient"
    settings: Settings
    _known: dict[str, str] = field(default_factory=dict[str, str])

    def value(self, secret: Secret) -> str:
        """Return the secret's text.

        Raises:
            UnavailableError: Secrets Manager does not respond.
        """
        if secret.name not in self._known:
            with translated("Secrets Manager"):
                reply = self.client.get_secret_value(SecretId=self.settings.secret(secret))
            self._known[secret.name] = reply["SecretString"]
        return self._known[secret.name]

    def accepted_values(self, secret: Secret) -> frozenset[str]:
        """Read the secret's text, and the one before it, if there is one.

        Raises:
            UnavailableError: Secrets Manager does not respond.
        """
        name = self.settings.secret(secret)
        with translated("Secrets Manager"):
            values = [self.client.get_secret_value(SecretId=name)["SecretString"]]
            with suppress(self.client.exceptions.ResourceNotFoundException):
                previous = self.client.get_secret_value(SecretId=name, VersionStage="AWSPREVIOUS")
                values.append(previous["SecretString"])
        return frozenset(values)

    def replace(self, secret: Secret, value: str) -> None:
        """Give the secret a new value; only functions that declare it in `rewrites` may.

        Raises:
            UnavailableError: Secrets Manager does not respond.
        """
        with translated("Secrets Manager"):
            self.client.put_secret_value(SecretId=self.settings.secret(secret), SecretString=value)
        self._known[secret.name] = value
