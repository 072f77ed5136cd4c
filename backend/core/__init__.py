"""What every slice uses, and nothing of AWS or HTTP: errors, identity, permission, paging."""
