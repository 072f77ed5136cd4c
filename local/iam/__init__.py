"""The synthesized IAM policies, decided on every AWS call that a function makes.

`policy.py` decides, `actions.py` knows what each call needs, `inside.py` asks in the function's own
process, `roles.py` collects the policies from the templates, `report.py` tells what nothing used.
"""
