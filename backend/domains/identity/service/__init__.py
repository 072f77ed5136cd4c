"""Operations on API keys and users, and the authentication of requests.

Each module is imported separately, because every function needs only some of them.
"""
