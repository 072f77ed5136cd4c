"""Enforces the synthesized IAM policies on every AWS call of a function.

`policy.py` decides, `actions.py` lists the actions of each call, `inside.py` checks in the
function's own process, `roles.py` collects the policies from the templates, `report.py` reports
unused grants.
"""
