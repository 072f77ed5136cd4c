"""Operations on jobs: by users, by the services that start them, by workers."""
