"""A model of the product, and the product in one process with an adversary between its parts."""
