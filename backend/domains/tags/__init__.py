"""Tags, and the types that group them and may require that an asset carries one of them."""
