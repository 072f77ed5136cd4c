"""Cognito behind the port `core.user_pool.UserPool`."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from backend.aws.errors import code_of, translated
from backend.core.clock import iso
from backend.core.errors import InvalidInputError, StateForbidsError, UnavailableError
from backend.core.paging import Page, PageRequest
from backend.core.user_pool import PoolUser, PoolUserExistsError, PoolUserNotFoundError

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_cognito_idp.type_defs import AttributeTypeTypeDef

_NEVER_SIGNED_IN = "FORCE_CHANGE_PASSWORD"
_INVALID = frozenset({"InvalidParameterException", "InvalidPasswordException"})
_BUSY = frozenset({"TooManyRequestsException", "LimitExceededException"})


@dataclass(eq=False, repr=False)
class CognitoUserPool:
    """The users of one pool (see the port for what each method promises)."""

    client: "CognitoIdentityProviderClient"
    pool_id: str

    def list_users(self, page: PageRequest) -> Page[PoolUser]:
        request: dict[str, Any] = {"UserPoolId": self.pool_id, "Limit": min(page.limit, 60)}
        if page.after is not None:
            request["PaginationToken"] = page.after["token"]
        with _translate_errors(""):
            reply = self.client.list_users(**request)
        users = tuple(_user(user, user.get("Attributes", [])) for user in reply["Users"])
        token = reply.get("PaginationToken")
        return Page(users, None if token is None else {"token": token})

    def get_user(self, user_id: str) -> PoolUser | None:
        try:
            with _translate_errors(user_id):
                user = self.client.admin_get_user(UserPoolId=self.pool_id, Username=user_id)
        except PoolUserNotFoundError:
            return None
        return _user(user, user.get("UserAttributes", []))

    def create_user(self, user_id: str, *, email: str, phone: str | None) -> None:
        with _translate_errors(user_id):
            self.client.admin_create_user(
                UserPoolId=self.pool_id,
                Username=user_id,
                UserAttributes=_verified_attributes(email, phone),
                DesiredDeliveryMediums=["EMAIL"],
            )

    def change_user(self, user_id: str, *, email: str | None, phone: str | None) -> None:
        with _translate_errors(user_id):
            self.client.admin_update_user_attributes(
                UserPoolId=self.pool_id,
                Username=user_id,
                UserAttributes=_verified_attributes(email, phone),
            )

    def delete_user(self, user_id: str) -> None:
        with _translate_errors(user_id):
            self.client.admin_delete_user(UserPoolId=self.pool_id, Username=user_id)

    def reset_password(self, user: PoolUser) -> None:
        with _translate_errors(user.user_id):
            if user.status == _NEVER_SIGNED_IN:
                self.client.admin_create_user(
                    UserPoolId=self.pool_id,
                    Username=user.user_id,
                    UserAttributes=self._contact(user.user_id),
                    MessageAction="RESEND",
                    DesiredDeliveryMediums=["EMAIL"],
                )
            else:
                self.client.admin_reset_user_password(
                    UserPoolId=self.pool_id, Username=user.user_id
                )

    def _contact(self, user_id: str) -> "list[AttributeTypeTypeDef]":
        """Return address and number as they are, for calls that may replace all attributes.

        The pool of the local runtime does.
        """
        user = self.client.admin_get_user(UserPoolId=self.pool_id, Username=user_id)
        return [
            attribute
            for attribute in user.get("UserAttributes", [])
            if attribute["Name"] in _CONTACT
        ]


@contextmanager
def _translate_errors(user_id: str) -> Generator[None]:
    try:
        with translated("Cognito"):
            yield
    except ClientError as error:
        code = code_of(error)
        message = error.response.get("Error", {}).get("Message", "")
        if code == "UserNotFoundException":
            raise PoolUserNotFoundError(user_id) from error
        if code == "UsernameExistsException":
            raise PoolUserExistsError(user_id) from error
        if code in _INVALID:
            raise InvalidInputError(f"Cognito rejected the request: {message}") from error
        if code in {"NotAuthorizedException", "UnsupportedUserStateException"}:
            raise StateForbidsError(f"The state of {user_id} does not allow this") from error
        if code in _BUSY:
            raise UnavailableError("Cognito is overloaded") from error
        raise


_CONTACT = frozenset(
    name + suffix for name in ("email", "phone_number") for suffix in ("", "_verified")
)


def _verified_attributes(email: str | None, phone: str | None) -> "list[AttributeTypeTypeDef]":
    attributes: list[AttributeTypeTypeDef] = []
    for name, value in (("email", email), ("phone_number", phone)):
        if value is not None:
            attributes.append({"Name": name, "Value": value})
            if value:  # Cognito removes an attribute with an empty value
                attributes.append({"Name": f"{name}_verified", "Value": "true"})
    return attributes


def _user(user: Any, attributes: "Iterable[AttributeTypeTypeDef]") -> PoolUser:
    values = {attribute["Name"]: attribute.get("Value", "") for attribute in attributes}
    return PoolUser(
        user_id=str(user["Username"]),
        email=values.get("email") or None,
        phone=values.get("phone_number") or None,
        status=str(user.get("UserStatus", "")),
        enabled=bool(user.get("Enabled", True)),
        created_at=iso(user["UserCreateDate"]),
        modified_at=iso(user["UserLastModifiedDate"]),
        mfa_enabled=bool(user.get("UserMFASettingList") or user.get("MFAOptions")),
    )
