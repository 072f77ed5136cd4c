"""A server of the Model Context Protocol over the client; it needs the extra `mcp`."""
