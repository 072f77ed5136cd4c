"""What is stored of API keys, users and roles, and the bodies and replies of their routes.

Here stands what every function loads; the rest is imported from its own module.
"""

from backend.domains.access.models.keys import ApiKey, parse_expiry
from backend.domains.access.models.people import ADMIN_ROLE, Role, User, UserRole

__all__ = ["ADMIN_ROLE", "ApiKey", "Role", "User", "UserRole", "parse_expiry"]
