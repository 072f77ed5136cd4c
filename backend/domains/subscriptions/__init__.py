"""Subscriptions: who is told by e-mail of what is done to which asset."""
