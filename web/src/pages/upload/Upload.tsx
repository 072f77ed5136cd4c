import { useBlocker, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { texts } from '../../texts';
import type { Place } from '../../viewer/sources';
import type { Chosen } from './chosen';
import { Files } from './Files';
import { Running } from './Running';
import type { Run } from './run';
import { Target } from './Target';
import './upload.css';

/** Files and folders into a new asset, or into one that exists. */
export function Upload() {
  const search = useSearch({ from: '/upload' });
  const [files, setFiles] = useState<Chosen[]>([]);
  const [run, setRun] = useState<{ run: Run; place: Place } | null>(null);
  useEffect(() => {
    document.title = `${texts.upload.title} · ${texts.product}`;
  }, []);
  useEffect(() => () => run?.run.end(), [run]);
  const running = () => run?.run.current().running ?? false;
  useBlocker({
    shouldBlockFn: () => running() && !confirm(texts.upload.leave),
    enableBeforeUnload: running,
  });
  const add = (chosen: Chosen[]) =>
    setFiles((before) => {
      const paths = new Set(chosen.map((each) => each.path));
      return [...before.filter((each) => !paths.has(each.path)), ...chosen];
    });
  return (
    <div className="upload">
      <h1>{texts.upload.title}</h1>
      {run ? (
        <Running
          {...run}
          onMore={() => {
            setRun(null);
            setFiles([]);
          }}
        />
      ) : (
        <>
          <Files files={files} onAdd={add} onChange={setFiles} />
          <Target
            key={`${search.database ?? ''}/${search.asset ?? ''}`}
            files={files}
            given={search}
            onStart={(started, place) => {
              setRun({ run: started, place });
              void started.start();
            }}
          />
        </>
      )}
    </div>
  );
}
