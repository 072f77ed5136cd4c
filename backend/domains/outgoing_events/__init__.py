"""Publishes changes of assets as events, from their audit entries."""
