"""Operations on links between assets."""
