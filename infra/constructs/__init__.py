"""Constructs, each rendering one declaration of `backend.spec` for CloudFormation."""
