"""What can be done with API keys, roles and users, and what they tell of a caller.

Here stands what every function loads; the rest is imported from its own module.
"""

from backend.domains.access.service.authenticating import CallerAuthentication, KeyAuthentication
from backend.domains.access.service.deciding import PolicyAuthorization
from backend.domains.access.service.establishing import ADMIN_KEY_ID, Administrators
from backend.domains.access.service.keys import ApiKeyService

__all__ = [
    "ADMIN_KEY_ID",
    "Administrators",
    "ApiKeyService",
    "CallerAuthentication",
    "KeyAuthentication",
    "PolicyAuthorization",
]
