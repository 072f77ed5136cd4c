"""Enforces the synthesized IAM policies on every AWS call that a function makes.

`policy.py` decides, `actions.py` lists what each call needs, `inside.py` checks in the function's
own process, `roles.py` collects the policies from the templates, `report.py` reports unused grants.
"""
