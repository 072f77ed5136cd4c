"""One function behind the HTTP API per domain."""
