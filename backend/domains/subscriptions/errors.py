"""The errors of subscriptions."""

from backend.core.errors import AlreadyExistsError, NotFoundError, RevisionConflictError


class SubscriptionNotFoundError(NotFoundError):
    code = "SubscriptionNotFound"

    def __init__(self, asset_id: str, user_id: str | None = None) -> None:
        who = "Nobody has" if user_id is None else f"User {user_id} has not"
        super().__init__(f"{who} subscribed to asset {asset_id}")


class SubscriptionExistsError(AlreadyExistsError):
    code = "SubscriptionExists"

    def __init__(self, asset_id: str, user_id: str) -> None:
        super().__init__(f"User {user_id} is already subscribed to asset {asset_id}")


class SubscriptionChangedError(RevisionConflictError):
    code = "SubscriptionRevisionConflict"

    def __init__(self, asset_id: str) -> None:
        super().__init__(
            f"The subscribers of asset {asset_id} were changed by someone else; try again"
        )
