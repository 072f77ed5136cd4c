"""Permission rules, and the forms into which they are compiled. Pure: no I/O, no pydantic."""
