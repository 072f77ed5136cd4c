"""Creates the resources of the templates in the engines: one module per service."""
