import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { mayPass, sentence } from '../api/errors';
import { factsOf } from '../api/facts';
import { texts } from '../texts';
import { Name } from '../ui/Name';
import { photoText } from '../ui/units';
import { nameOf } from './kinds';
import { Poster, useDownload, type ViewProps } from './Stage';
import { usePinch } from './usePinch';

const STEP = 1.5;
const MOST = 16;

/** An image, with zoom; it scrolls where it is larger than its place. */
export function ImageView(props: ViewProps) {
  const { databaseId, assetId, file } = props;
  const found = useDownload(props);
  const facts = useQuery(factsOf({ databaseId, assetId }, file.path));
  const [zoom, setZoom] = useState(1);
  const [failed, setFailed] = useState(false);
  const [shown, setShown] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  // The part of the picture in the middle of its place, which stays there.
  const middle = useRef({ x: 0.5, y: 0.5 });
  useLayoutEffect(() => {
    const { current } = frame;
    if (!current) return;
    const { x, y } = middle.current;
    current.scrollLeft = x * current.scrollWidth - current.clientWidth / 2;
    current.scrollTop = y * current.scrollHeight - current.clientHeight / 2;
  }, [zoom]);
  const change = (by: number) => {
    const { current } = frame;
    if (current) {
      middle.current = {
        x: (current.scrollLeft + current.clientWidth / 2) / current.scrollWidth,
        y: (current.scrollTop + current.clientHeight / 2) / current.scrollHeight,
      };
    }
    setZoom((before) => Math.min(MOST, Math.max(1, before * by)));
  };
  usePinch(frame, change, found.data !== undefined && !failed);
  if (found.isError) {
    const retry = mayPass(found.error) ? () => void found.refetch() : undefined;
    return <Poster {...props} failure={sentence(found.error)} retry={retry} />;
  }
  if (failed) return <Poster {...props} failure={texts.viewer.noPicture} />;
  const photo = facts.data && photoText(facts.data);
  return (
    <>
      {!shown && <Poster {...props} busy />}
      {found.data && (
        <div
          ref={frame}
          className="image"
          role="group"
          aria-label={nameOf(props.file.path)}
          tabIndex={0}
          onKeyDown={(event) => {
            if (event.key === '+' || event.key === '=') change(STEP);
            else if (event.key === '-') change(1 / STEP);
            else if (event.key === 'f') setZoom(1);
          }}
        >
          <img
            src={found.data}
            alt={nameOf(props.file.path)}
            style={{ width: `${zoom * 100}%`, height: `${zoom * 100}%` }}
            onLoad={() => setShown(true)}
            onError={() => setFailed(true)}
          />
        </div>
      )}
      {shown && photo && (
        <p className="photo">
          <Name text={photo} line />
        </p>
      )}
      {shown && (
        <div className="tools" role="toolbar" aria-label={nameOf(props.file.path)}>
          <button type="button" onClick={() => change(1 / STEP)} disabled={zoom <= 1}>
            {texts.viewer.zoomOut}
          </button>
          <button type="button" onClick={() => change(STEP)} disabled={zoom >= MOST}>
            {texts.viewer.zoomIn}
          </button>
          <button type="button" onClick={() => setZoom(1)}>
            {texts.viewer.fit}
          </button>
        </div>
      )}
    </>
  );
}
