"""Every route of the REST API: method, path, domain, permission.

Tier 1 decides whether the caller may use the route (`object__type=api`), tier 2 whether it may
perform the action on the entity (`object_type`, `action`). If `action` differs from the HTTP
method, the contract requires it.
"""

from backend.spec.routes.access import *
from backend.spec.routes.assets import *
from backend.spec.routes.executions import *
from backend.spec.routes.files import *
from backend.spec.routes.metadata import *
from backend.spec.routes.model import *
from backend.spec.routes.operations import *
from backend.spec.routes.registry import *
from backend.spec.routes.workflows import *

ROUTES: tuple[Route, ...] = tuple(value for value in globals().values() if isinstance(value, Route))
