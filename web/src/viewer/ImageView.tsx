import { useQuery } from '@tanstack/react-query';
import {
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type RefObject,
} from 'react';
import { flushSync } from 'react-dom';
import { factsQuery } from '../api/fileFacts';
import { viewerTexts } from '../texts/viewer';
import { formatPercent } from '../texts/formats';
import { UserText } from '../ui/UserText';
import { formatPhoto } from '../ui/units';
import { fileName } from '../ui/fileKinds';
import { Poster, type ViewProps } from './Poster';
import { useDownload } from './useDownload';
import { useGestures } from './useGestures';
import {
  fitZoom,
  minZoom,
  maxZoom,
  scrollAfterZoom,
  clampZoom,
  type Point,
  type Size,
} from './zoom';

const STEP = 1.5;
const NONE: Size = { width: 0, height: 0 };
/** Milliseconds without a change of the zoom, after which it is announced. */
const ANNOUNCE_DELAY = 600;

/** An image, with zoom; it scrolls where it is larger than its place. */
export function ImageView(props: ViewProps) {
  const { databaseId, assetId, file } = props;
  const { url, failure, retry, onError } = useDownload(props);
  const facts = useQuery(factsQuery({ databaseId, assetId }, file.path));
  const [picture, setPicture] = useState(NONE);
  const frame = useRef<HTMLDivElement>(null);
  const isThere = url !== undefined && !failure;
  const { zoom, fit, isKnown, change, show } = useZoom(frame, picture, isThere);
  useGestures(frame, change, isThere);
  if (failure) return <Poster {...props} failure={failure} retry={retry} />;
  const photo = facts.data && formatPhoto(facts.data);
  const isShown = picture.width > 0 && isKnown;
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') change(STEP);
    else if (event.key === '-') change(1 / STEP);
    else if (event.key === '1') show(1);
    else if (event.key.toLowerCase() === 'f') show(null);
  };
  return (
    <>
      {!isShown && <Poster {...props} busy />}
      {url && (
        <div
          ref={frame}
          className={isShown ? 'image shown' : 'image'}
          role="group"
          aria-label={fileName(file.path)}
          tabIndex={0}
          onKeyDown={onKey}
        >
          <img
            src={url}
            alt={fileName(file.path)}
            draggable={false}
            style={isShown ? { width: picture.width * zoom, height: picture.height * zoom } : {}}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              // A drawing may have no size of its own.
              setPicture({ width: naturalWidth || 1000, height: naturalHeight || 1000 })
            }
            onError={() => void onError()}
          />
        </div>
      )}
      {isShown && photo && (
        <p className="photo">
          <UserText text={photo} line />
        </p>
      )}
      {isShown && (
        <div className="tools" role="toolbar" aria-label={fileName(file.path)}>
          <button type="button" onClick={() => change(1 / STEP)} disabled={zoom <= minZoom(fit)}>
            {viewerTexts.zoomOut}
          </button>
          <span className="zoom" aria-hidden="true">
            {formatPercent(zoom)}
          </span>
          <Announcement text={viewerTexts.zoomed(formatPercent(zoom))} />
          <button type="button" onClick={() => change(STEP)} disabled={zoom >= maxZoom(fit)}>
            {viewerTexts.zoomIn}
          </button>
          <button type="button" onClick={() => show(1)} aria-keyshortcuts="1">
            {formatPercent(1)}
          </button>
          <button type="button" onClick={() => show(null)} aria-keyshortcuts="f">
            {viewerTexts.fit}
          </button>
        </div>
      )}
    </>
  );
}

/** Announces a text to screen readers once it no longer changes, and not at first. */
function Announcement({ text }: { text: string }) {
  const [first] = useState(text);
  const [announced, setAnnounced] = useState('');
  useEffect(() => {
    if (text === first && !announced) return;
    const timer = setTimeout(() => setAnnounced(text), ANNOUNCE_DELAY);
    return () => clearTimeout(timer);
  }, [text, first, announced]);
  return (
    <span role="status" className="hidden">
      {announced}
    </span>
  );
}

/** The zoom of a picture: until someone changes it, and on request, that which shows all of it. */
function useZoom(frame: RefObject<HTMLElement | null>, picture: Size, isThere: boolean) {
  const [place, setPlace] = useState(NONE);
  const [chosenZoom, setChosen] = useState<number | null>(null);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element || !isThere) return;
    const observer = new ResizeObserver(() =>
      // Without the bars, which come and go with the zoom.
      setPlace({ width: element.offsetWidth, height: element.offsetHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame, isThere]);
  const fit = fitZoom(place, picture);
  const zoom = chosenZoom === null ? fit : clampZoom(chosenZoom, fit);
  const show = (to: number | null, at?: Point) => {
    const { current } = frame;
    if (!current) return;
    const next = clampZoom(to ?? fit, fit);
    const before = { x: current.scrollLeft, y: current.scrollTop };
    const middle = { x: place.width / 2, y: place.height / 2 };
    const { x, y } = scrollAfterZoom(place, picture, before, at ?? middle, {
      from: zoom,
      to: next,
    });
    // At once: a wheel sends its next step before the page is drawn.
    flushSync(() => setChosen(to === null ? null : next));
    current.scrollTo(x, y);
  };
  const change = (by: number, at?: Point) => show(zoom * by, at);
  return { zoom, fit, isKnown: place.width > 0, show, change };
}
