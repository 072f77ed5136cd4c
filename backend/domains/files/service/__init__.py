"""Operations on files of assets: list and describe them, for routes and for other slices."""
