import { useQueryClient } from '@tanstack/react-query';
import { useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { sentence } from '../../api/errors';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { uploadTexts } from '../../texts/upload';
import type { Place } from '../../viewer/sources';
import type { Chosen } from './chosen';
import { DROPPED, useDrops } from './drops';
import { Prepare } from './Prepare';
import { Running } from './Running';
import type { Run } from './run';
import './upload.css';

/** Files and folders into a new asset, or into one that exists. */
export function Upload() {
  const search = useSearch({ from: '/upload' });
  const navigate = useNavigate({ from: '/upload' });
  const cache = useQueryClient();
  const [files, setFiles] = useState(() => cache.getQueryData<Chosen[]>(DROPPED) ?? []);
  const [failure, setFailure] = useState('');
  const [run, setRun] = useState<{ run: Run; place: Place; given: typeof search } | null>(null);
  useEffect(() => {
    document.title = `${uploadTexts.title} · ${texts.product}`;
  }, []);
  useEffect(() => cache.removeQueries({ queryKey: DROPPED }), [cache]);
  useEffect(() => () => run?.run.end(), [run]);
  const running = () => run?.run.current().running ?? false;
  useBlocker({
    shouldBlockFn: () => running() && !confirm(uploadTexts.leave),
    enableBeforeUnload: running,
  });
  const add = useCallback((chosen: Chosen[]) => {
    setFailure('');
    setFiles((before) => {
      const paths = new Set(chosen.map((each) => each.path));
      return [...before.filter((each) => !paths.has(each.path)), ...chosen];
    });
  }, []);
  const drop = useCallback(
    (chosen: Promise<Chosen[]>) =>
      void chosen.then(add, (error: unknown) => setFailure(sentence(error))),
    [add],
  );
  const mayWrite = useMayWrite();
  const over = useDrops(run || mayWrite === false ? null : drop);
  return (
    <div className="upload">
      <h1>{uploadTexts.title}</h1>
      {mayWrite === false ? (
        <p className="notice">{uploadTexts.notAllowed}</p>
      ) : run ? (
        <Running
          {...run}
          onMore={() => {
            void navigate({ search: run.given, replace: true });
            setRun(null);
            setFiles([]);
          }}
        />
      ) : (
        <Prepare
          key={`${search.database ?? ''}/${search.asset ?? ''}`}
          files={files}
          given={search}
          over={over}
          failure={failure}
          onAdd={add}
          onChange={setFiles}
          onStart={(started, place) => {
            setRun({ run: started, place, given: search });
            // A reload while it runs leads to the same asset, not to a second one.
            const { databaseId: database, assetId: asset } = place;
            void navigate({ search: { database, asset }, replace: true, ignoreBlocker: true });
            void started.start();
          }}
        />
      )}
    </div>
  );
}
