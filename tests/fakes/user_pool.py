"""A user pool in memory: the port without Cognito."""

from dataclasses import dataclass, field, replace

from backend.core.paging import Page, PageRequest
from backend.core.user_pool import PoolUser, PoolUserExistsError, PoolUserNotFoundError

_AT = "2026-03-01T12:00:00.000000Z"


@dataclass
class MemoryUserPool:
    pool_id: str = "us-east-1_memory"
    users: dict[str, PoolUser] = field(default_factory=dict[str, PoolUser])

    def list_users(self, page: PageRequest) -> Page[PoolUser]:
        last = "" if page.after is None else page.after["userId"]
        left = [user for name, user in sorted(self.users.items()) if name > last]
        result = left[: page.limit]
        return Page(
            tuple(result), {"userId": result[-1].user_id} if len(result) < len(left) else None
        )

    def get_user(self, user_id: str) -> PoolUser | None:
        return self.users.get(user_id)

    def create_user(self, user_id: str, *, email: str, phone: str | None) -> None:
        if user_id in self.users:
            raise PoolUserExistsError(user_id)
        self.users[user_id] = PoolUser(
            user_id=user_id,
            email=email,
            phone=phone,
            status="FORCE_CHANGE_PASSWORD",
            enabled=True,
            created_at=_AT,
            modified_at=_AT,
            mfa_enabled=False,
        )

    def change_user(self, user_id: str, *, email: str | None, phone: str | None) -> None:
        result = self._found(user_id)
        phone = result.phone if phone is None else phone or None
        self.users[user_id] = replace(result, email=email or result.email, phone=phone)

    def delete_user(self, user_id: str) -> None:
        del self.users[self._found(user_id).user_id]

    def reset_password(self, user: PoolUser) -> None:
        self._found(user.user_id)

    def _found(self, user_id: str) -> PoolUser:
        if user_id not in self.users:
            raise PoolUserNotFoundError(user_id)
        return self.users[user_id]
