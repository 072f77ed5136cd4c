import { useQuery } from '@tanstack/react-query';
import { downloadUrl } from '../api/downloads';
import { errorText, isRetryable, NetworkError, StorageError } from '../api/errors';
import { fetchWithIdleTimeout } from '../api/idleTimeout';
import type { ViewProps } from './Poster';

/** How much of a text is shown. */
export const MOST_TEXT = 200_000;

interface Text {
  text: string;
  /** It is only the beginning of the file. */
  isCut: boolean;
  /** Whether it says in which encoding it is: valid UTF-8, or UTF-16 by its first bytes. */
  isCertain: boolean;
}

/** The beginning of a text file, or what a poster says instead. */
export function useText({ databaseId, assetId, file }: ViewProps, most = MOST_TEXT) {
  const query = useQuery({
    // Requested again after each change of the asset's files.
    queryKey: ['files', databaseId, assetId, 'text', file.path, file.earlier ?? null, most],
    queryFn: async ({ signal }): Promise<Text> => {
      const url = await downloadUrl({ databaseId, assetId }, file.path, { version: file.earlier });
      const lost = (failure: unknown): never => {
        throw signal.aborted ? failure : new NetworkError();
      };
      const headers = { range: `bytes=0-${most - 1}` };
      const response = await fetchWithIdleTimeout(url, { signal, headers }).catch(lost);
      if (!response.ok) throw new StorageError(response.status);
      const bytes = await response.arrayBuffer().catch(lost);
      return decode(bytes.slice(0, most), bytes.byteLength >= most);
    },
    // A long text is read again rather than kept.
    gcTime: most > MOST_TEXT ? 0 : undefined,
  });
  const { error } = query;
  const retry = isRetryable(error) ? () => void query.refetch() : undefined;
  return {
    content: query.data,
    poster: error ? { failure: errorText(error), retry } : { busy: true },
  };
}

/** Encodings by the two bytes of their byte order mark. */
const UTF16 = new Map([
  ['255,254', 'utf-16le'],
  ['254,255', 'utf-16be'],
]);

/** A text as UTF-8, or as UTF-16 with a byte order mark; else as most programs of Windows write. */
function decode(bytes: ArrayBuffer, isCut: boolean): Text {
  const mark = [...new Uint8Array(bytes, 0, Math.min(bytes.byteLength, 2))].join();
  const utf16 = UTF16.get(mark);
  try {
    // The last character of a beginning may be a part of one.
    const decoder = new TextDecoder(utf16 ?? 'utf-8', { fatal: true });
    return { text: decoder.decode(bytes, { stream: isCut }), isCut, isCertain: true };
  } catch {
    const text = new TextDecoder(utf16 ?? 'windows-1252').decode(bytes);
    return { text, isCut, isCertain: Boolean(utf16) };
  }
}
