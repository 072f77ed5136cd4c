import { useEffect, useState } from 'react';
import { downloadUrl } from '../api/downloads';
import { errorText, isRetryable } from '../api/errors';
import { formatBytes } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { fetchBytes, LargeFileError } from './fetchBytes';
import { PdfDocument } from './pdfDocument';
import { PdfPages } from './PdfPages';
import { Poster, type ViewProps } from './Poster';

type State =
  | { state: 'loading'; fraction?: number }
  | { state: 'large'; bytes: number }
  | { state: 'failed'; error: unknown }
  | { state: 'shown'; pdf: PdfDocument };

/** A PDF page by page; its picture until it is there, and if it cannot be read. */
export function PdfView(props: ViewProps) {
  const { state, retry, loadLarge } = usePdf(props);
  switch (state.state) {
    case 'loading':
      return <Poster {...props} busy fraction={state.fraction} />;
    case 'failed':
      return (
        <Poster
          {...props}
          failure={errorText(state.error)}
          retry={isRetryable(state.error) ? retry : undefined}
        />
      );
    case 'large':
      return (
        <>
          <Poster {...props} />
          <p className="note">
            {viewerTexts.pdf.large(formatBytes(state.bytes))}{' '}
            <button type="button" onClick={loadLarge}>
              {viewerTexts.loadAnyway}
            </button>
          </p>
        </>
      );
    case 'shown':
      return <PdfPages path={props.file.path} pdf={state.pdf} />;
  }
}

/** Loads a document; again for another file or content. */
function usePdf({ databaseId, assetId, file: { path, earlier, changedAt } }: ViewProps) {
  const { versionId, assetVersionId } = earlier ?? {};
  const [state, setState] = useState<State>({ state: 'loading' });
  const [large, setLarge] = useState(false);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    let pdf: PdfDocument | null = null;
    const show = async () => {
      setState({ state: 'loading' });
      const version = versionId === undefined ? undefined : { versionId, assetVersionId };
      const url = await downloadUrl({ databaseId, assetId }, path, { version });
      const progress = (fraction: number) => setState({ state: 'loading', fraction });
      pdf = await PdfDocument.open(await fetchBytes(url, { signal, large, progress }));
      if (signal.aborted) pdf.close();
      else setState({ state: 'shown', pdf });
    };
    show().catch((error: unknown) => {
      if (signal.aborted) return;
      setState(
        error instanceof LargeFileError
          ? { state: 'large', bytes: error.bytes }
          : { state: 'failed', error },
      );
    });
    return () => {
      ending.abort();
      pdf?.close();
    };
  }, [databaseId, assetId, path, versionId, assetVersionId, changedAt, large, tries]);
  return { state, retry: () => setTries(tries + 1), loadLarge: () => setLarge(true) };
}
