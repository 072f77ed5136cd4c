"""The roles of the matrix, by the templates and rules that each is given."""

from dataclasses import dataclass

Action = str

ACTIONS: tuple[Action, ...] = ("GET", "PUT", "POST", "DELETE")
RULED = (
    *("database", "databasePurge", "asset", "web", "tag", "tagType"),
    *("role", "userRole", "metadataSchema", "pipeline", "workflow"),
)
"""Types that roles have rules on. None has rules on `bucket`, which everyone sees."""


@dataclass(frozen=True)
class Role:
    """A column. Its role is made of templates, and of rules on all objects of `types`."""

    name: str
    templates: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ACTIONS
    """Those that the rules on `types` allow; all routes are allowed with every action."""
    requires_mfa: bool = False
    has_mfa: bool = False

    @property
    def user_id(self) -> str:
        return "admin" if self.name == "admin" else f"user-{self.name}"

    @property
    def counting(self) -> frozenset[str]:
        """The roles of the user that count: without a second factor some do not."""
        lacks_mfa = self.requires_mfa and not self.has_mfa
        return frozenset() if lacks_mfa or self.name == "nobody" else frozenset({self.name})


ROLES = (
    Role("admin"),
    Role("dbadmin", ("database-admin",)),
    Role("dbuser", ("database-user",)),
    Role("dbreader", ("database-readonly",)),
    Role("reader", ("global-readonly",)),
    Role("keepsoff", ("deny-tagged-assets",), (*RULED, "api")),
    Role("blind", types=(*RULED, "api")),
    Role("routes", types=("api",)),
    Role("objects", types=RULED),
    Role("nobody"),
    Role("nomfa", ("database-admin",), requires_mfa=True),
    Role("mfa", ("database-admin",), requires_mfa=True, has_mfa=True),
)
"""`admin`: an administrator. `dbadmin`, `dbuser`, `dbreader`, `reader`: the templates
database-admin, database-user and database-readonly for `museum`, and global-readonly. `keepsoff`:
everything that rules can allow, and deny-tagged-assets for `secret`. `blind`: the same, but denied
to see objects with the tag. `routes`: all routes and no object. `objects`: all objects and no
route. `nobody`: a user without a role. `nomfa` and `mfa`: a role like dbadmin's that requires a
second factor, without one and with one."""

WITH_ONE_ACTION = tuple(
    Role(f"just-{action}", types=(*RULED, "api"), actions=("GET", action)) for action in ACTIONS
)
WITHOUT_ONE_ACTION = tuple(
    Role(
        f"but-{action}",
        types=(*RULED, "api"),
        actions=tuple(other for other in ACTIONS if other != action),
    )
    for action in ACTIONS
)
"""Roles without one action each, which show the action that a method requires. They are not
columns. All may see objects, except `but-GET`."""
