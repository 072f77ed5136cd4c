"""Constructs: one declaration of `backend.spec` each, rendered for CloudFormation."""
