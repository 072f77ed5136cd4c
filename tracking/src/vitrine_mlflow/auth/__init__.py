"""Users, roles and permissions for MLflow's basic-auth app."""
