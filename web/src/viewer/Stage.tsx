import { useQuery } from '@tanstack/react-query';
import { Suspense, useRef, useState } from 'react';
import { isRetryable, errorText } from '../api/errors';
import type { PictureSource } from '../api/pictures';
import { texts } from '../texts';
import { viewerTexts } from '../texts/viewer';
import { ErrorBoundary } from '../ui/ErrorBoundary';
import { lazyComponent } from '../ui/lazyComponent';
import { Picture } from '../ui/Picture';
import { fetchLoadError } from './fetchBytes';
import { fileKind, fileName } from '../ui/fileKinds';
import { downloadUrl, type Place } from '../api/downloads';
import './viewer.css';

const ModelView = lazyComponent(() => import('./ModelView').then((found) => found.ModelView));
const ImageView = lazyComponent(() => import('./ImageView').then((found) => found.ImageView));
const TextView = lazyComponent(() => import('./TextView').then((found) => found.TextView));

export interface StageFile {
  path: string;
  size: number | null;
  versionId?: string | null;
}

export interface ViewProps extends Place {
  file: StageFile;
  picture: PictureSource;
}

/** A file, in the viewer of its kind; its picture until that is there, and if it cannot be. */
export function Stage(props: ViewProps) {
  const { file } = props;
  return (
    <section className="stage" aria-label={fileName(file.path)}>
      <ErrorBoundary
        key={file.path}
        fallback={(error, again) => (
          <Poster
            {...props}
            failure={errorText(error)}
            retry={isRetryable(error) ? again : undefined}
          />
        )}
      >
        <Suspense fallback={<Poster {...props} busy />}>
          <View {...props} />
        </Suspense>
      </ErrorBoundary>
    </section>
  );
}

function View(props: ViewProps) {
  if (props.file.size === 0) return <Poster {...props} failure={viewerTexts.emptyFile} />;
  switch (fileKind(props.file.path)) {
    case 'model':
      return <ModelView {...props} />;
    case 'image':
      return <ImageView {...props} />;
    case 'video':
      return <Video {...props} />;
    case 'text':
      return <TextView {...props} />;
    default:
      return <Poster {...props} {...fallbackText(props)} />;
  }
}

const fallbackText = ({ picture: { file, preview } }: ViewProps) =>
  (file ?? preview) ? { caption: viewerTexts.onlyPicture } : { failure: viewerTexts.noPicture };

/** The picture of a file, with what is going on below it. */
export function Poster(
  props: ViewProps & {
    busy?: boolean;
    fraction?: number;
    note?: string;
    caption?: string;
    failure?: string;
    retry?: () => void;
  },
) {
  const { file, preview } = props.picture;
  return (
    <>
      <span className="poster">
        {/* That there is no picture is known once nothing loads any more. */}
        {(file ?? preview ?? !props.busy) && <Picture picture={props.picture} />}
      </span>
      {props.busy && (
        <p className="note" role="status">
          {texts.loading}
          {props.fraction !== undefined && (
            <progress value={props.fraction} aria-label={texts.loading} />
          )}
        </p>
      )}
      {props.note && (
        <p className="note" role="status">
          {props.note}
        </p>
      )}
      {props.caption && (
        <p className="note caption" role="status">
          {props.caption}
        </p>
      )}
      {props.failure && (
        <p className="note failed" role="status">
          {props.failure}{' '}
          {props.retry && (
            <button type="button" onClick={props.retry}>
              {texts.tryAgain}
            </button>
          )}
        </p>
      )}
    </>
  );
}

/** The presigned address of the file that is shown in an element; or why it cannot be shown. */
export function useDownload({ databaseId, assetId, file }: ViewProps) {
  const found = useQuery({
    queryKey: ['download', databaseId, assetId, file.path, file.versionId ?? null],
    queryFn: () => downloadUrl({ databaseId, assetId }, file.path),
    staleTime: 10 * 60_000,
    gcTime: 10 * 60_000,
    // Another address would begin a film again.
    refetchOnReconnect: ({ state }) => state.data === undefined,
  });
  const [lost, setLost] = useState<Error | null>(null);
  const error = lost ?? found.error;
  // An address that has ended would fail again before the next one is there.
  const retry = () => void found.refetch().then(() => setLost(null));
  return {
    url: found.data,
    failure: error ? errorText(error) : '',
    retry: isRetryable(error) ? retry : undefined,
    onError: async () =>
      setLost((await fetchLoadError(found.data ?? '')) ?? new Error(viewerTexts.noPicture)),
  };
}

function Video(props: ViewProps) {
  const { url, failure, retry, onError } = useDownload(props);
  const at = useRef(0);
  if (failure) return <Poster {...props} failure={failure} retry={retry} />;
  if (!url) return <Poster {...props} busy />;
  return (
    <video
      src={url}
      controls
      className="film"
      aria-label={fileName(props.file.path)}
      onTimeUpdate={({ currentTarget }) => (at.current = currentTarget.currentTime)}
      // After another try it goes on where it was.
      onLoadedMetadata={({ currentTarget }) => (currentTarget.currentTime = at.current)}
      // The connection is lost, the address has ended, or the browser does not play the format.
      onError={() => void onError()}
    >
      <track kind="captions" />
    </video>
  );
}
