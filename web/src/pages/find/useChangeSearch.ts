import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { parseSearch, type FindState } from './findState';

type Update = (before: FindState) => FindState;
export type ChangeSearch = (update: Update, options?: { replace?: boolean }) => void;

/** The only writer of the search in the address. A caller's own copy may lack what was just typed. */
export function useChangeSearch(): ChangeSearch {
  const navigate = useNavigate();
  return useCallback(
    // On another page, a new search begins: no part of its address is valid here.
    (update, options) =>
      void navigate({ to: '/', search: (before) => update(parseSearch(before)), ...options }),
    [navigate],
  );
}
