"""The stacks of a deployment, in the order in which they are deployed."""
