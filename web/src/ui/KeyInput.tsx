import { useQuery } from '@tanstack/react-query';
import type { InputHTMLAttributes } from 'react';
import { hasSuggestions, suggestionsQuery } from '../api/search';

interface KeyInputProps extends InputHTMLAttributes<HTMLInputElement> {
  id: string;
  value: string;
}

/**
 * The name of a key of metadata. Keys that exist are offered: two names for one thing are not found
 * together.
 */
export function KeyInput(props: KeyInputProps) {
  const { id, value } = props;
  const keys = useQuery({ ...suggestionsQuery(value), enabled: hasSuggestions(value) });
  return (
    <>
      <input dir="auto" maxLength={256} autoComplete="off" list={`${id}-list`} {...props} />
      <datalist id={`${id}-list`}>
        {keys.data?.suggestions
          .filter(({ kind }) => kind === 'key')
          .map(({ text }) => (
            <option key={text} value={text} />
          ))}
      </datalist>
    </>
  );
}
