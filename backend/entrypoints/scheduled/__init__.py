"""The functions that the clock wakes, one module each."""
