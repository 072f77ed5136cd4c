import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { mayPass, sentence } from '../api/errors';
import type { Pictured } from '../api/pictures';
import { texts } from '../texts';
import { Boundary } from '../ui/Boundary';
import { Picture } from '../ui/Picture';
import { kindOf, nameOf } from './kinds';
import { downloadUrl, type Place } from './sources';
import './viewer.css';

const ModelView = lazy(() => import('./ModelView').then((found) => ({ default: found.ModelView })));
const ImageView = lazy(() => import('./ImageView').then((found) => ({ default: found.ImageView })));
const TextView = lazy(() => import('./TextView').then((found) => ({ default: found.TextView })));

export interface StageFile {
  path: string;
  size: number | null;
  versionId?: string | null;
}

export interface ViewProps extends Place {
  file: StageFile;
  picture: Pictured;
}

/** A file, in the viewer of its kind; its picture until that is there, and if it cannot be. */
export function Stage(props: ViewProps) {
  const { file } = props;
  return (
    <section className="stage" aria-label={nameOf(file.path)}>
      <Boundary
        key={file.path}
        fallback={(error) => <Poster {...props} failure={sentence(error)} />}
      >
        <Suspense fallback={<Poster {...props} busy />}>
          <View {...props} />
        </Suspense>
      </Boundary>
    </section>
  );
}

function View(props: ViewProps) {
  if (props.file.size === 0) return <Poster {...props} failure={texts.viewer.emptyFile} />;
  switch (kindOf(props.file.path)) {
    case 'model':
      return <ModelView {...props} />;
    case 'image':
      return <ImageView {...props} />;
    case 'video':
      return <Video {...props} />;
    case 'text':
      return <TextView {...props} />;
    default:
      return <Poster {...props} {...withoutViewer(props)} />;
  }
}

const withoutViewer = ({ picture: { file, preview } }: ViewProps) =>
  (file ?? preview) ? { caption: texts.viewer.onlyPicture } : { failure: texts.viewer.noPicture };

/** The picture of a file, with what is going on below it. */
export function Poster(
  props: ViewProps & {
    busy?: boolean;
    part?: number;
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
          {props.part !== undefined && <progress value={props.part} aria-label={texts.loading} />}
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

/** The presigned address of the file that is shown, signed again before it ends. */
export function useDownload({ databaseId, assetId, file }: ViewProps) {
  return useQuery({
    queryKey: ['download', databaseId, assetId, file.path, file.versionId ?? null],
    queryFn: () => downloadUrl({ databaseId, assetId }, file.path),
    staleTime: 10 * 60_000,
    gcTime: 10 * 60_000,
  });
}

function Video(props: ViewProps) {
  const found = useDownload(props);
  const [failed, setFailed] = useState(false);
  if (found.isError) {
    const retry = mayPass(found.error) ? () => void found.refetch() : undefined;
    return <Poster {...props} failure={sentence(found.error)} retry={retry} />;
  }
  if (failed) return <Poster {...props} failure={texts.viewer.noPicture} />;
  if (!found.data) return <Poster {...props} busy />;
  return (
    <video
      src={found.data}
      controls
      className="film"
      aria-label={nameOf(props.file.path)}
      // Of a format, or a codec, that the browser does not play.
      onError={() => setFailed(true)}
    >
      <track kind="captions" />
    </video>
  );
}
