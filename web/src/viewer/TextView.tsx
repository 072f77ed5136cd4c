import { useQuery } from '@tanstack/react-query';
import { isRetryable, NetworkError, errorText, StorageError } from '../api/errors';
import { fetchWithIdleTimeout } from '../api/idleTimeout';
import { viewerTexts } from '../texts/viewer';
import { formatBytes } from '../texts/formats';
import { fileName } from '../ui/fileKinds';
import { downloadUrl } from '../api/downloads';
import { Poster, type ViewProps } from './Poster';

const MOST = 200_000;

/** The beginning of a text file, as text: markup in it is not rendered. */
export function TextView(props: ViewProps) {
  const { databaseId, assetId, file } = props;
  const query = useQuery({
    // Requested again after each change of the asset's files.
    queryKey: ['files', databaseId, assetId, 'text', file.path, file.earlier ?? null],
    queryFn: async ({ signal }) => {
      const url = await downloadUrl({ databaseId, assetId }, file.path, { version: file.earlier });
      const lost = (failure: unknown): never => {
        throw signal.aborted ? failure : new NetworkError();
      };
      const headers = { range: `bytes=0-${MOST - 1}` };
      const response = await fetchWithIdleTimeout(url, { signal, headers }).catch(lost);
      if (!response.ok) throw new StorageError(response.status);
      const bytes = await response.arrayBuffer().catch(lost);
      return {
        text: new TextDecoder().decode(bytes.slice(0, MOST)),
        cut: bytes.byteLength >= MOST,
      };
    },
  });
  if (query.isError) {
    const retry = isRetryable(query.error) ? () => void query.refetch() : undefined;
    return <Poster {...props} failure={errorText(query.error)} retry={retry} />;
  }
  if (!query.data) return <Poster {...props} busy />;
  return (
    <div className="text" tabIndex={0} role="group" aria-label={fileName(file.path)}>
      <pre>{query.data.text}</pre>
      {query.data.cut && <p className="faint">{viewerTexts.textCut(formatBytes(MOST))}</p>}
    </div>
  );
}
