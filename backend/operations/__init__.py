"""Operations for administrators: replay of failures, dead letters, search indexes."""
