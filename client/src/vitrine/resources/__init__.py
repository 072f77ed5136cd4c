"""One module a family of routes: the SDK's verbs, each one request (or one listing)."""
