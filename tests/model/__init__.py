"""A model of the whole product, and the product in process with an adversary between its parts."""
