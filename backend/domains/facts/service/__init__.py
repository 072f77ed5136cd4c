"""Operations on facts."""
