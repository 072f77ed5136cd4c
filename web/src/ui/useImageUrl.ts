import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { fetchLoadError } from '../api/downloads';
import { StorageError } from '../api/errors';

const PAUSE = 3_000;
const TRIES = 3;

/**
 * Which address of a picture to load: the first that has not failed. If all have, because the
 * connection is lost or the addresses have ended, they are tried again a few times.
 */
export function useImageUrl(urls: readonly string[]) {
  const [broken, setBroken] = useState<readonly string[]>([]);
  const [isLost, setLost] = useState(false);
  const tries = useRef(0);
  const cache = useQueryClient();
  const url = urls.find((url) => url && !broken.includes(url));
  const last = url === undefined ? broken.at(-1) : undefined;
  useEffect(() => {
    if (last === undefined) return;
    const ending = new AbortController();
    const again = () => setBroken([]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    void fetchLoadError(last).then((why) => {
      const status = why instanceof StorageError ? why.status : 0;
      if (ending.signal.aborted) return;
      setLost(why !== null && status !== 404);
      // There is nothing, or what is there is no picture.
      if (status === 404 || (why === null && tries.current > 0)) return;
      addEventListener('online', again, { signal: ending.signal });
      if (tries.current >= TRIES) return;
      if (status === 403) {
        // One request for all pictures of a reply.
        for (const key of ['search', 'previews', 'picture'])
          void cache.invalidateQueries({ queryKey: [key] }, { cancelRefetch: false });
      }
      timer = setTimeout(again, PAUSE * 3 ** tries.current++);
    });
    return () => {
      ending.abort();
      clearTimeout(timer);
    };
  }, [last, cache]);
  return {
    url,
    isLost: last !== undefined && isLost,
    onImageError: (failed: string) => setBroken((before) => [...before, failed]),
  };
}
