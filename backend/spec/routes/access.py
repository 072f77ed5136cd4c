"""Routes of who may do what: API keys, roles, users, profiles."""

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
LIST_ROLES = Route("GET", "/roles", "access", "list_roles", "List the roles", "role")
CREATE_ROLE = Route("POST", "/roles", "access", "create_role", "Create a role", "role")
UPDATE_ROLE = Route("PUT", "/roles", "access", "update_role", "Change a role", "role")
DELETE_ROLE = Route(
    "DELETE", "/roles/{roleId}", "access", "delete_role",
    "Delete a role and take it from all users", "role",
)  # fmt: skip
LIST_USER_ROLES = Route(
    "GET", "/user-roles", "access", "list_user_roles", "List who has which roles", "userRole"
)
ADD_USER_ROLES = Route(
    "POST", "/user-roles", "access", "add_user_roles", "Give a user further roles", "userRole"
)
SET_USER_ROLES = Route(
    "PUT", "/user-roles", "access", "set_user_roles", "Give a user exactly these roles", "userRole"
)
DELETE_USER_ROLES = Route(
    "DELETE", "/user-roles", "access", "delete_user_roles", "Take all roles from a user", "userRole"
)
LIST_ALLOWED_ROUTES = Route(
    "POST", "/auth/routes", "access", "list_allowed_routes",
    "Which pages of the web application the caller may see", open_to_users=True, throttle="signIn",
)  # fmt: skip
GET_LOGIN_PROFILE = Route(
    "GET", "/auth/loginProfile/{userId}", "access", "get_login_profile",
    "Get the caller's own profile", open_to_users=True, throttle="signIn",
)  # fmt: skip
UPDATE_LOGIN_PROFILE = Route(
    "POST", "/auth/loginProfile/{userId}", "access", "update_login_profile",
    "Make the caller's own profile, or bring it up to date", open_to_users=True, throttle="signIn",
)  # fmt: skip
LIST_COGNITO_USERS = Route(
    "GET", "/user/cognito", "access", "list_cognito_users", "List the users who can sign in",
    "userRole", statuses=(404,),
)  # fmt: skip
CREATE_COGNITO_USER = Route(
    "POST", "/user/cognito", "access", "create_cognito_user", "Let a user sign in", "userRole"
)
UPDATE_COGNITO_USER = Route(
    "PUT", "/user/cognito/{userId}", "access", "update_cognito_user",
    "Change the address or number of a user who can sign in", "userRole",
)  # fmt: skip
DELETE_COGNITO_USER = Route(
    "DELETE", "/user/cognito/{userId}", "access", "delete_cognito_user",
    "Let a user sign in no more", "userRole",
)  # fmt: skip
RESET_COGNITO_PASSWORD = Route(
    "POST", "/user/cognito/{userId}/resetPassword", "access", "reset_cognito_password",
    "Have a user choose a new password", "userRole",
)  # fmt: skip
LIST_CONSTRAINTS = Route(
    "GET", "/auth/constraints", "access", "list_constraints", "List the constraints", "constraint"
)
GET_CONSTRAINT = Route(
    "GET", "/auth/constraints/{constraintId}", "access", "get_constraint", "Get a constraint",
    "constraint",
)  # fmt: skip
CREATE_CONSTRAINT = Route(
    "POST", "/auth/constraints/{constraintId}", "access", "create_constraint",
    "Make a constraint, or put this one in its place", "constraint",
)  # fmt: skip
UPDATE_CONSTRAINT = Route(
    "PUT", "/auth/constraints/{constraintId}", "access", "update_constraint",
    "Put this constraint in the place of another, or make it", "constraint",
)  # fmt: skip
DELETE_CONSTRAINT = Route(
    "DELETE", "/auth/constraints/{constraintId}", "access", "delete_constraint",
    "Delete a constraint and what it gives", "constraint", statuses=(413,),
)  # fmt: skip
LIST_CONSTRAINTS_TEMPLATES = Route(
    "GET", "/auth/constraintsTemplates", "access", "list_constraints_templates",
    "List the templates of permissions that ship with the product", "constraint", ours=True,
)  # fmt: skip
IMPORT_CONSTRAINTS_TEMPLATE = Route(
    "POST", "/auth/constraintsTemplateImport", "access", "import_constraints_template",
    "Give a role the constraints of a template", "constraint",
)  # fmt: skip
EXPLAIN_ACCESS = Route(
    "GET", "/auth/explain", "access", "explain_access",
    "Tell what is decided about a user and an object, and by which constraints", "constraint",
    ours=True,
)  # fmt: skip
