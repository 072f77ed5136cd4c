"""Access: roles of users, API keys, who is an administrator."""
