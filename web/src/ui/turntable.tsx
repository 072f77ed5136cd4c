import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type PointerEvent, type ReactNode } from 'react';
import type { PictureSource } from '../api/pictures';
import { fileKind } from './fileKinds';
import { fetchDerivedGlb, type Place } from '../api/downloads';

type ModelFile = Place & { path?: string | null };

const REST = 300;
const MOTION = '(prefers-reduced-motion: no-preference)';

/**
 * Moves the picture of a model or film while the pointer rests on it: what to spread on the element that
 * is pointed at, and what to draw over its picture.
 */
export function useTurntable(file: ModelFile, picture: PictureSource) {
  const [resting, setResting] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const leave = () => {
    clearTimeout(timer.current);
    setResting(false);
  };
  const hoverProps = {
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'touch' || !hasTurntable(file, picture) || !matchMedia(MOTION).matches)
        return;
      timer.current = setTimeout(() => setResting(true), REST);
    },
    onPointerLeave: leave,
    onPointerCancel: leave,
  };
  const turntable: ReactNode = resting && hasTurntable(file, picture) && <Turntable file={file} />;
  return { hoverProps, turntable };
}

/** Whether the picture may move: of a model from all sides, of a film over its length. */
export function hasTurntable(
  file: ModelFile,
  picture: PictureSource,
): file is Place & { path: string } {
  const { preview, file: signed } = picture;
  if (!file.path || !(preview ?? signed)) return false;
  return ['model', 'video'].includes(fileKind(file.path));
}

/** The address is requested only now: for all hits it would take a request to S3 each. */
const turntableQuery = ({ databaseId, assetId, path }: Place & { path: string }) =>
  queryOptions({
    queryKey: ['turntable', databaseId, assetId, path],
    queryFn: async () =>
      (await fetchDerivedGlb({ databaseId, assetId }, path)).turntable?.url ?? null,
    // Shorter than an address is valid.
    staleTime: 10 * 60_000,
    gcTime: 10 * 60_000,
    retry: false,
  });

/** Covers the still picture once it is loaded; without a turntable nothing changes. */
function Turntable({ file }: { file: Place & { path: string } }) {
  const { data: url } = useQuery(turntableQuery(file));
  const [loaded, setLoaded] = useState(false);
  if (!url) return null;
  return (
    <img
      src={url}
      alt=""
      className={loaded ? 'turning shown' : 'turning'}
      draggable={false}
      onLoad={() => setLoaded(true)}
    />
  );
}
