"""Files of assets, as the object store holds them."""
