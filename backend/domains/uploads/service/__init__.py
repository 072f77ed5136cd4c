"""Operations on uploads: start, renew, get, complete, abort."""
