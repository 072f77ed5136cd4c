import { useQuery } from '@tanstack/react-query';
import { mayPass, NetworkError, sentence, StorageError } from '../api/errors';
import { fetchHeard } from '../api/hearing';
import { viewerTexts } from '../texts/viewer';
import { size } from '../ui/formats';
import { nameOf } from './kinds';
import { downloadUrl } from './sources';
import { Poster, type ViewProps } from './Stage';

const MOST = 200_000;

/** The beginning of a text file, as text: markup in it is not rendered. */
export function TextView(props: ViewProps) {
  const { databaseId, assetId, file } = props;
  const found = useQuery({
    queryKey: ['text', databaseId, assetId, file.path, file.versionId ?? null],
    queryFn: async ({ signal }) => {
      const url = await downloadUrl({ databaseId, assetId }, file.path);
      const lost = (failure: unknown): never => {
        throw signal.aborted ? failure : new NetworkError();
      };
      const headers = { range: `bytes=0-${MOST - 1}` };
      const response = await fetchHeard(url, { signal, headers }).catch(lost);
      if (!response.ok) throw new StorageError(response.status);
      const bytes = await response.arrayBuffer().catch(lost);
      return {
        text: new TextDecoder().decode(bytes.slice(0, MOST)),
        cut: bytes.byteLength >= MOST,
      };
    },
  });
  if (found.isError) {
    const retry = mayPass(found.error) ? () => void found.refetch() : undefined;
    return <Poster {...props} failure={sentence(found.error)} retry={retry} />;
  }
  if (!found.data) return <Poster {...props} busy />;
  return (
    <div className="text" tabIndex={0} role="group" aria-label={nameOf(file.path)}>
      <pre>{found.data.text}</pre>
      {found.data.cut && <p className="faint">{viewerTexts.textCut(size(MOST))}</p>}
    </div>
  );
}
