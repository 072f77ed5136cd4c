import { Suspense, useRef } from 'react';
import { isRetryable, errorText } from '../api/errors';
import { pictureUrl } from '../api/pictures';
import { viewerTexts } from '../texts/viewer';
import { ErrorBoundary } from '../ui/ErrorBoundary';
import { lazyComponent } from '../ui/lazyComponent';
import { fileKind, fileName } from '../ui/fileKinds';
import { Poster, type ViewProps } from './Poster';
import { useDownload } from './useDownload';
import './viewer.css';

const ModelView = lazyComponent(() => import('./ModelView'), 'ModelView');
const ImageView = lazyComponent(() => import('./ImageView'), 'ImageView');
const TextView = lazyComponent(() => import('./TextView'), 'TextView');
const CodeView = lazyComponent(() => import('./CodeView'), 'CodeView');
const MarkdownView = lazyComponent(() => import('./MarkdownView'), 'MarkdownView');
const TableView = lazyComponent(() => import('./TableView'), 'TableView');
const PdfView = lazyComponent(() => import('./PdfView'), 'PdfView');

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
    case 'splats':
      return <ModelView {...props} />;
    case 'image':
      return <ImageView {...props} />;
    case 'video':
      return <Video {...props} />;
    case 'audio':
      return <Sound {...props} />;
    case 'pdf':
      return <PdfView {...props} />;
    case 'table':
      return <TableView {...props} />;
    case 'markdown':
      return <MarkdownView {...props} />;
    case 'code':
      return <CodeView {...props} />;
    case 'text':
      return <TextView {...props} />;
    default:
      return <Poster {...props} {...fallbackText(props)} />;
  }
}

const fallbackText = ({ picture: { file, preview } }: ViewProps) =>
  (file ?? preview) ? { caption: viewerTexts.onlyPicture } : { failure: viewerTexts.noPicture };

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
      poster={props.picture.preview ? pictureUrl(props.picture.preview) : undefined}
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

/** The waveform, above the controls. */
function Sound(props: ViewProps) {
  const { url, failure, retry, onError } = useDownload(props);
  return (
    <>
      <Poster {...props} busy={!url && !failure} failure={failure} retry={retry} />
      {url && !failure && (
        <audio
          src={url}
          controls
          className="sound"
          aria-label={fileName(props.file.path)}
          onError={() => void onError()}
        />
      )}
    </>
  );
}
