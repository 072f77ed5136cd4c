"""The configuration that clients need before they sign in."""
