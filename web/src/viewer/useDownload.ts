import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { downloadUrl, fetchLoadError } from '../api/downloads';
import { errorText, isRetryable } from '../api/errors';
import { viewerTexts } from '../texts/viewer';
import type { ViewProps } from './Poster';

/** The presigned address of the file that is shown in an element; or why it cannot be shown. */
export function useDownload({ databaseId, assetId, file }: ViewProps) {
  const query = useQuery({
    // Requested again after each change of the asset's files.
    queryKey: ['files', databaseId, assetId, 'address', file.path, file.earlier ?? null],
    queryFn: () => downloadUrl({ databaseId, assetId }, file.path, { version: file.earlier }),
    staleTime: 10 * 60_000,
    gcTime: 10 * 60_000,
    // Another address would begin a film again.
    refetchOnReconnect: ({ state }) => state.data === undefined,
  });
  const [lost, setLost] = useState<Error | null>(null);
  const error = lost ?? query.error;
  // An address that has ended would fail again before the next one is there.
  const retry = () => void query.refetch().then(() => setLost(null));
  return {
    url: query.data,
    failure: error ? errorText(error) : '',
    retry: isRetryable(error) ? retry : undefined,
    onError: async () =>
      setLost((await fetchLoadError(query.data ?? '')) ?? new Error(viewerTexts.noPicture)),
  };
}
