"""Jars from a Maven repository: pinned, verified, kept once; `<engine>.lock` holds each set."""
