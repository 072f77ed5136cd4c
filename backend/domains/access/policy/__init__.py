"""What rules say, and the forms that they are compiled into. Pure: no I/O, no pydantic."""
