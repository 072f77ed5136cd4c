"""Secrets: each value is generated once, stored in the state folder, and restored in the engine.

The engine loses them at every stop. `store_values` stores values that functions changed meanwhile.
"""

from __future__ import annotations

import json
import secrets
import string
from typing import TYPE_CHECKING, TypedDict

from local import arns
from local.resources.base import Context, Created, Properties, parse

if TYPE_CHECKING:
    from local.assembly import Resource
    from local.clients import Clients
    from local.state import StateFolder

FILE = "secrets.json"
_ARN_TAG = "_custom_id_"  # moto takes the end of the ARN from this tag
_LETTERS = string.ascii_letters


class StoredSecret(TypedDict):
    """A secret in the state folder."""

    suffix: str
    value: str


class Generate(Properties):
    """The rule by which a value is generated."""

    exclude_characters: str = ""
    exclude_lowercase: bool = False
    exclude_numbers: bool = False
    exclude_punctuation: bool = False
    exclude_uppercase: bool = False
    generate_string_key: str | None = None
    include_space: bool = False
    password_length: int = 32
    require_each_included_type: bool = True
    secret_string_template: str | None = None


class Secret(Properties):
    """`AWS::SecretsManager::Secret`; the engine neither encrypts nor replicates."""

    no_effect = "Description Tags"

    name: str | None = None
    generate_secret_string: Generate | None = None
    secret_string: str | None = None
    kms_key_id: str | None = None


def create_secret(context: Context, resource: Resource) -> Created:
    """Create the secret in the engine, with its previous value and ARN if it had one."""
    secret = parse(Secret, resource)
    name = secret.name or arns.physical_name(resource.stack, resource.logical_id, limit=240)
    kept = context.state.read(FILE, dict[str, StoredSecret]())
    if name not in kept:
        suffix = "".join(secrets.choice(_LETTERS) for _ in range(6))
        kept[name] = {"suffix": suffix, "value": _value(secret)}
        context.state.write(FILE, kept)
        context.fresh.append(f"secret {name}")
    context.stateful.append(f"secret {name}")
    secret_arn = _ensure_secret(context.clients, name, kept[name])
    context.roles.record_encryption_key(secret_arn, secret.kms_key_id)
    return Created(secret_arn)


def restore_values(clients: Clients, state: StateFolder) -> None:
    """Restore all secrets in a restarted engine."""
    for name, kept in state.read(FILE, dict[str, StoredSecret]()).items():
        _ensure_secret(clients, name, kept)


def store_values(clients: Clients, state: StateFolder) -> None:
    """Store the values that functions have changed; nothing is written if none has changed.

    Raises:
        BotoCoreError: the engine does not respond.
        ClientError: it does not have a secret.
    """
    kept = state.read(FILE, dict[str, StoredSecret]())
    changed = False
    for name, known in kept.items():
        value = clients.secrets.get_secret_value(SecretId=name)["SecretString"]
        if value != known["value"]:
            known["value"] = value
            changed = True
    if changed:
        state.write(FILE, kept)


def _ensure_secret(clients: Clients, name: str, kept: StoredSecret) -> str:
    client = clients.secrets
    try:
        return client.describe_secret(SecretId=name)["ARN"]
    except client.exceptions.ResourceNotFoundException:
        return client.create_secret(
            Name=name,
            SecretString=kept["value"],
            Tags=[{"Key": _ARN_TAG, "Value": kept["suffix"]}],
        )["ARN"]


def _value(secret: Secret) -> str:
    generate = secret.generate_secret_string
    if generate is None:
        return secret.secret_string or ""
    password = generate_password(generate)
    if generate.generate_string_key is None:
        return password
    template = json.loads(generate.secret_string_template or "{}")
    return json.dumps({**template, generate.generate_string_key: password})


def generate_password(generate: Generate) -> str:
    """Return a random text as declared."""
    kinds = [
        characters
        for characters, excluded in (
            (string.ascii_lowercase, generate.exclude_lowercase),
            (string.ascii_uppercase, generate.exclude_uppercase),
            (string.digits, generate.exclude_numbers),
            (string.punctuation, generate.exclude_punctuation),
            (" ", not generate.include_space),
        )
        if not excluded
    ]
    excluded = set(generate.exclude_characters)
    allowed = ["".join(c for c in kind if c not in excluded) for kind in kinds]
    allowed = [kind for kind in allowed if kind]
    needed = (
        [secrets.choice(kind) for kind in allowed] if generate.require_each_included_type else []
    )
    rest = generate.password_length - len(needed)
    drawn = [*needed, *(secrets.choice("".join(allowed)) for _ in range(rest))]
    secrets.SystemRandom().shuffle(drawn)
    return "".join(drawn)
