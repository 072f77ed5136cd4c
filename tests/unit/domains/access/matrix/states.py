"""The states of objects in the matrix, and the letters of the replies."""

from typing import Literal

State = Literal["own", "foreign", "archived", "tagged", "GLOBAL", "absent"]

STATES: tuple[State, ...] = ("own", "foreign", "archived", "tagged", "GLOBAL", "absent")
"""Own: in the database `museum`, which roles of one database are for, or the caller's own.
Foreign: in `gallery`, another user's, or a page of administration. Archived: in `museum`, or a
deleted database. Tagged: in `museum` with the tag `secret`, which some roles are denied. GLOBAL: of
that keyword as a database. Absent: nothing of that id."""

ALLOWED = "a"
"""Success (2xx, a redirect), or a conflict (409) that only authorized callers receive. Of a list:
it contains the object."""
FORBIDDEN = "f"
"""403: the route is not for the role, or the object can be seen and this not be done to it."""
NOT_FOUND = "n"
"""404: there is none, or it is invisible."""
HIDDEN = "h"
"""The list is returned without the object."""
BAD = "b"
"""400 for every caller who may use the route: no such object can be named."""
NO_CASE = "-"
"""The route cannot name an object in this state."""

DATABASES: dict[State, str] = {
    "own": "museum",
    "foreign": "gallery",
    "archived": "attic",
    "GLOBAL": "GLOBAL",
    "absent": "nowhere",
}
ASSETS: dict[State, tuple[str, str]] = {
    "own": ("museum", "statue"),
    "foreign": ("gallery", "painting"),
    "archived": ("museum", "relic"),
    "tagged": ("museum", "idol"),
    "GLOBAL": ("GLOBAL", "statue"),
    "absent": ("museum", "none-such"),
}
