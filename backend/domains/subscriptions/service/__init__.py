"""Operations on subscriptions, and notifications of subscribers."""
