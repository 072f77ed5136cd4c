"""Identity: users, their profiles and API keys, and who sends a request."""
