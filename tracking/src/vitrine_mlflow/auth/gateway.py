"""MLflow's methods for users' own permissions on the gateway and MCP servers.

The stores of these resources are not part of this package; their permissions may be granted.
"""

from typing import Any

from mlflow.server.auth import permissions as types

from vitrine_mlflow.auth.resources import ResourceMethods


class GatewayMethods(ResourceMethods):
    """The methods by the names that MLflow calls."""

    def create_gateway_secret_permission(
        self, secret_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_GATEWAY_SECRET
        return self.resources.create(kind, username, permission, secret_id=secret_id)

    def get_gateway_secret_permission(self, secret_id: str, username: str) -> Any:
        return self.resources.get(types.RESOURCE_TYPE_GATEWAY_SECRET, username, secret_id=secret_id)

    def list_gateway_secret_permissions(self, username: str) -> list[Any]:
        return self.resources.listed(types.RESOURCE_TYPE_GATEWAY_SECRET, username)

    def update_gateway_secret_permission(
        self, secret_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_GATEWAY_SECRET
        return self.resources.update(kind, username, permission, secret_id=secret_id)

    def delete_gateway_secret_permission(self, secret_id: str, username: str) -> None:
        self.resources.delete(types.RESOURCE_TYPE_GATEWAY_SECRET, username, secret_id=secret_id)

    def create_gateway_endpoint_permission(
        self, endpoint_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_GATEWAY_ENDPOINT
        return self.resources.create(kind, username, permission, endpoint_id=endpoint_id)

    def get_gateway_endpoint_permission(self, endpoint_id: str, username: str) -> Any:
        return self.resources.get(
            types.RESOURCE_TYPE_GATEWAY_ENDPOINT, username, endpoint_id=endpoint_id
        )

    def list_gateway_endpoint_permissions(self, username: str) -> list[Any]:
        return self.resources.listed(types.RESOURCE_TYPE_GATEWAY_ENDPOINT, username)

    def update_gateway_endpoint_permission(
        self, endpoint_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_GATEWAY_ENDPOINT
        return self.resources.update(kind, username, permission, endpoint_id=endpoint_id)

    def delete_gateway_endpoint_permission(self, endpoint_id: str, username: str) -> None:
        self.resources.delete(
            types.RESOURCE_TYPE_GATEWAY_ENDPOINT, username, endpoint_id=endpoint_id
        )

    def create_gateway_model_definition_permission(
        self, model_definition_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_GATEWAY_MODEL_DEFINITION
        return self.resources.create(
            kind, username, permission, model_definition_id=model_definition_id
        )

    def get_gateway_model_definition_permission(
        self, model_definition_id: str, username: str
    ) -> Any:
        return self.resources.get(
            types.RESOURCE_TYPE_GATEWAY_MODEL_DEFINITION,
            username,
            model_definition_id=model_definition_id,
        )

    def list_gateway_model_definition_permissions(self, username: str) -> list[Any]:
        return self.resources.listed(types.RESOURCE_TYPE_GATEWAY_MODEL_DEFINITION, username)

    def update_gateway_model_definition_permission(
        self, model_definition_id: str, username: str, permission: str
    ) -> Any:
        kind = types.RESOURCE_TYPE_GATEWAY_MODEL_DEFINITION
        return self.resources.update(
            kind, username, permission, model_definition_id=model_definition_id
        )

    def delete_gateway_model_definition_permission(
        self, model_definition_id: str, username: str
    ) -> None:
        self.resources.delete(
            types.RESOURCE_TYPE_GATEWAY_MODEL_DEFINITION,
            username,
            model_definition_id=model_definition_id,
        )

    def create_mcp_server_permission(self, name: str, username: str, permission: str) -> Any:
        kind = types.RESOURCE_TYPE_MCP_SERVER
        return self.resources.create(kind, username, permission, name=name)

    def get_mcp_server_permission(self, name: str, username: str) -> Any:
        return self.resources.get(types.RESOURCE_TYPE_MCP_SERVER, username, name=name)

    def list_mcp_server_permissions(self, username: str) -> list[Any]:
        return self.resources.listed(types.RESOURCE_TYPE_MCP_SERVER, username)

    def update_mcp_server_permission(self, name: str, username: str, permission: str) -> Any:
        kind = types.RESOURCE_TYPE_MCP_SERVER
        return self.resources.update(kind, username, permission, name=name)

    def delete_mcp_server_permission(self, name: str, username: str) -> None:
        self.resources.delete(types.RESOURCE_TYPE_MCP_SERVER, username, name=name)
