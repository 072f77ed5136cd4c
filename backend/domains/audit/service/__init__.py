"""Operations on audit entries."""
