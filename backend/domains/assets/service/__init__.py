"""Operations on assets."""
