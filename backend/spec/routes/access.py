"""Routes of API keys, roles, users and profiles."""

from backend.spec.routes.model import Route

LIST_API_KEYS = Route(
    "GET", "/auth/api-keys", "access", "list_api_keys", "List the API keys", "apiKey"
)
CREATE_API_KEY = Route(
    "POST", "/auth/api-keys", "access", "create_api_key", "Create an API key", "apiKey"
)
GET_API_KEY = Route(
    "GET", "/auth/api-keys/{apiKeyId}", "access", "get_api_key", "Get an API key", "apiKey"
)
UPDATE_API_KEY = Route(
    "PUT", "/auth/api-keys/{apiKeyId}", "access", "update_api_key", "Change an API key", "apiKey"
)
DELETE_API_KEY = Route(
    "DELETE", "/auth/api-keys/{apiKeyId}", "access", "delete_api_key", "Delete an API key",
    "apiKey",
)  # fmt: skip
LIST_OWN_API_KEYS = Route(
    "GET", "/auth/user/api-keys", "access", "list_own_api_keys", "List the caller's own API keys",
    "apiKey", later=True,
)  # fmt: skip
CREATE_OWN_API_KEY = Route(
    "POST", "/auth/user/api-keys", "access", "create_own_api_key",
    "Create an API key of the caller, for at most 365 days", "apiKey", later=True,
)  # fmt: skip
GET_OWN_API_KEY = Route(
    "GET", "/auth/user/api-keys/{apiKeyId}", "access", "get_own_api_key",
    "Get one of the caller's own API keys", "apiKey", later=True,
)  # fmt: skip
UPDATE_OWN_API_KEY = Route(
    "PUT", "/auth/user/api-keys/{apiKeyId}", "access", "update_own_api_key",
    "Change one of the caller's own API keys", "apiKey", later=True,
)  # fmt: skip
DELETE_OWN_API_KEY = Route(
    "DELETE", "/auth/user/api-keys/{apiKeyId}", "access", "delete_own_api_key",
    "Delete one of the caller's own API keys", "apiKey", later=True,
)  # fmt: skip
CREATE_SESSION = Route(
    "POST", "/auth/session", "access", "create_session", (
        "Begin a session of the caller at the page's address, with a cookie that scripts cannot "
        "read"
    ),
    open_to_users=True, ours=True, throttle="signIn", response_headers=("Set-Cookie",),
)  # fmt: skip
DELETE_SESSION = Route(
    "DELETE", "/auth/session", "access", "delete_session", "End the session of the request",
    open_to_users=True, ours=True, response_headers=("Set-Cookie",), statuses=(404,),
)  # fmt: skip
LIST_ROLES = Route("GET", "/roles", "access", "list_roles", "List the roles", "role")
CREATE_ROLE = Route("POST", "/roles", "access", "create_role", "Create a role", "role")
UPDATE_ROLE = Route("PUT", "/roles", "access", "update_role", "Change a role", "role")
DELETE_ROLE = Route(
    "DELETE", "/roles/{roleId}", "access", "delete_role",
    "Delete a role and remove it from all users", "role",
)  # fmt: skip
LIST_USER_ROLES = Route(
    "GET", "/user-roles", "access", "list_user_roles", "List users with their roles", "userRole"
)
ADD_USER_ROLES = Route(
    "POST", "/user-roles", "access", "add_user_roles", "Add roles to a user", "userRole"
)
SET_USER_ROLES = Route(
    "PUT", "/user-roles", "access", "set_user_roles", "Replace the roles of a user", "userRole"
)
DELETE_USER_ROLES = Route(
    "DELETE",
    "/user-roles",
    "access",
    "delete_user_roles",
    ("Remove all roles from a user"),
    "userRole",
)
LIST_ALLOWED_ROUTES = Route(
    "POST", "/auth/routes", "access", "list_allowed_routes",
    (
        "List the pages of the web application that the caller may open"
    ), open_to_users=True, throttle="signIn",
)  # fmt: skip
LIST_API_ROUTES = Route(
    "GET", "/auth/routes/api", "access", "list_api_routes", "List the routes of the API",
    later=True,
)  # fmt: skip
LIST_ALLOWED_API_ROUTES = Route(
    "GET", "/auth/routes/api/allowed", "access", "list_allowed_api_routes",
    "List the routes of the API that the caller may use", open_to_users=True, throttle="signIn",
    later=True,
)  # fmt: skip
GET_LOGIN_PROFILE = Route(
    "GET", "/auth/loginProfile/{userId}", "access", "get_login_profile",
    "Get the caller's own profile", open_to_users=True, throttle="signIn",
)  # fmt: skip
UPDATE_LOGIN_PROFILE = Route(
    "POST", "/auth/loginProfile/{userId}", "access", "update_login_profile",
    "Create or update the caller's own profile", open_to_users=True, throttle="signIn",
)  # fmt: skip
LIST_COGNITO_USERS = Route(
    "GET", "/user/cognito", "access", "list_cognito_users", (
        "List the users of the Cognito user pool"
    ),
    "userRole", statuses=(404,),
)  # fmt: skip
CREATE_COGNITO_USER = Route(
    "POST",
    "/user/cognito",
    "access",
    "create_cognito_user",
    ("Create a user in the Cognito user pool"),
    "userRole",
)
UPDATE_COGNITO_USER = Route(
    "PUT", "/user/cognito/{userId}", "access", "update_cognito_user",
    "Change the email address or phone number of a Cognito user", "userRole",
)  # fmt: skip
DELETE_COGNITO_USER = Route(
    "DELETE", "/user/cognito/{userId}", "access", "delete_cognito_user",
    "Delete a user from the Cognito user pool", "userRole",
)  # fmt: skip
RESET_COGNITO_PASSWORD = Route(
    "POST", "/user/cognito/{userId}/resetPassword", "access", "reset_cognito_password",
    "Reset the password of a Cognito user", "userRole",
)  # fmt: skip
LIST_CONSTRAINTS = Route(
    "GET", "/auth/constraints", "access", "list_constraints", "List the constraints", "constraint"
)
LIST_PERMISSION_OBJECTS = Route(
    "GET", "/auth/constraints/permissionObjects", "access", "list_permission_objects",
    "List the object types, fields, operators and permissions of constraints", "constraint",
    later=True,
)  # fmt: skip
GET_CONSTRAINT = Route(
    "GET", "/auth/constraints/{constraintId}", "access", "get_constraint", "Get a constraint",
    "constraint",
)  # fmt: skip
CREATE_CONSTRAINT = Route(
    "POST", "/auth/constraints/{constraintId}", "access", "create_constraint",
    "Create or replace a constraint", "constraint",
)  # fmt: skip
UPDATE_CONSTRAINT = Route(
    "PUT", "/auth/constraints/{constraintId}", "access", "update_constraint",
    "Replace or create a constraint", "constraint",
)  # fmt: skip
DELETE_CONSTRAINT = Route(
    "DELETE", "/auth/constraints/{constraintId}", "access", "delete_constraint",
    "Delete a constraint and the permissions it grants", "constraint", statuses=(413,),
)  # fmt: skip
LIST_CONSTRAINTS_TEMPLATES = Route(
    "GET", "/auth/constraintsTemplates", "access", "list_constraints_templates",
    "List the permission templates that ship with the product", "constraint", ours=True,
)  # fmt: skip
IMPORT_CONSTRAINTS_TEMPLATE = Route(
    "POST", "/auth/constraintsTemplateImport", "access", "import_constraints_template",
    "Create a role's constraints from a permission template", "constraint",
)  # fmt: skip
EXPLAIN_ACCESS = Route(
    "GET", "/auth/explain", "access", "explain_access",
    "Explain a user's permissions on a route or an object", "constraint",
    ours=True,
)  # fmt: skip
