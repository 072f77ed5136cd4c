"""Access: roles and constraints, and the permissions that follow from them."""
