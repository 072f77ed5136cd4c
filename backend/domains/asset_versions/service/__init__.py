"""Operations on versions of assets: create, read, compare and change them."""
