"""Facts of files: what the product reads from their bytes, and what follows from them."""
