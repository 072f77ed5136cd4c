import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useStore } from '../../api/createStore';
import { formatBytes } from '../../texts/formats';
import { uploadTexts } from '../../texts/upload';
import { useOnline } from '../../ui/useOnline';
import type { CurrentUpload } from './currentUpload';

/** How far an upload is, in numbers and words; requests again what it changes, once it has ended. */
export function useUploadStatus({ run, place }: Pick<CurrentUpload, 'run' | 'place'>) {
  const { items, running, paused, busyUntil } = useStore(run.progress);
  const isOnline = useOnline();
  const seconds = useSecondsUntil(busyUntil);
  const cache = useQueryClient();
  const { databaseId, assetId } = place;
  useEffect(() => {
    if (running) return;
    void cache.invalidateQueries({ queryKey: ['search'] });
    void cache.invalidateQueries({ queryKey: ['files', databaseId, assetId] });
  }, [running, cache, databaseId, assetId]);
  const left = items.filter((item) => item.state !== 'skipped');
  const all = left.reduce((sum, item) => sum + item.file.size, 0);
  const sent = left.reduce((sum, item) => sum + item.sent, 0);
  const failed = items.filter((item) => item.state === 'failed');
  const again = failed.filter((item) => !item.final).length;
  const waiting = items.filter((item) => item.state === 'waiting').length;
  const progress = uploadTexts.progress(formatBytes(sent), formatBytes(all));
  const words = () => {
    if (running && paused) return uploadTexts.paused(progress);
    if (running && !isOnline) return uploadTexts.offline(progress);
    if (running) return seconds > 0 ? uploadTexts.busy(progress) : progress;
    if (failed.length) return uploadTexts.partly(failed.length);
    return waiting ? uploadTexts.stopped : uploadTexts.done;
  };
  return {
    items,
    running,
    paused,
    fraction: all ? sent / all : 1,
    failed,
    again,
    unfinished: again + waiting,
    words: words(),
    /** Until parts go on that wait for a busy server; 0 if none wait. */
    seconds: running && !paused && isOnline ? seconds : 0,
  };
}

/** How many seconds are left until a time, counted down; 0 after it, or without one. */
function useSecondsUntil(time: number | null): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (time === null) return;
    const tick = () => setNow(Date.now());
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [time]);
  return time === null ? 0 : Math.max(0, Math.ceil((time - now) / 1000));
}
