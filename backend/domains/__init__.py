"""One slice per domain, the same files in each: models, rules, repository, service, routes."""
