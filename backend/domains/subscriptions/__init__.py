"""Subscriptions: who is notified by e-mail of the changes of which asset."""
