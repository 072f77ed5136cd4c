"""Functions that build the services of the slices over the ports of one function."""
