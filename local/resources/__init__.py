"""What the templates declare, created in the engines: one module a service."""
