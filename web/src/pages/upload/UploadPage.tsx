import { useQueryClient } from '@tanstack/react-query';
import { useBlocker, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { errorText } from '../../api/errors';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { uploadTexts } from '../../texts/upload';
import type { Place } from '../../api/downloads';
import type { LocalFile } from './localFiles';
import { DROPPED_FILES, useFileDrop } from './useFileDrop';
import { UploadSetup } from './UploadSetup';
import { UploadProgress } from './UploadProgress';
import type { UploadRun } from './uploadRun';
import './upload.css';

/** Files with their paths in a folder of the target (`/papers/`). */
const intoFolder = (files: LocalFile[], folder = '/'): LocalFile[] =>
  files.map((file) => ({ ...file, path: folder.replace(/\/$/, '') + file.path }));

/** Files and folders into a new asset, or into one that exists. */
export function UploadPage() {
  const search = useSearch({ from: '/upload' });
  const navigate = useNavigate({ from: '/upload' });
  const cache = useQueryClient();
  const [files, setFiles] = useState(() =>
    intoFolder(cache.getQueryData<LocalFile[]>(DROPPED_FILES) ?? [], search.folder),
  );
  const [failure, setFailure] = useState('');
  const [run, setRun] = useState<{ run: UploadRun; place: Place; requested: typeof search } | null>(
    null,
  );
  useEffect(() => {
    document.title = `${uploadTexts.title} · ${texts.product}`;
  }, []);
  useEffect(() => cache.removeQueries({ queryKey: DROPPED_FILES }), [cache]);
  useEffect(() => () => run?.run.end(), [run]);
  const running = () => run?.run.progress.current().running ?? false;
  useBlocker({
    shouldBlockFn: () => running() && !confirm(uploadTexts.leave),
    enableBeforeUnload: running,
  });
  const { folder } = search;
  const add = useCallback(
    (chosen: LocalFile[]) => {
      setFailure('');
      const added = intoFolder(chosen, folder);
      setFiles((before) => {
        const paths = new Set(added.map((file) => file.path));
        return [...before.filter((file) => !paths.has(file.path)), ...added];
      });
    },
    [folder],
  );
  const drop = useCallback(
    (files: Promise<LocalFile[]>) =>
      void files.then(add, (error: unknown) => setFailure(errorText(error))),
    [add],
  );
  const mayWrite = useMayWrite();
  const { over } = useFileDrop(run || mayWrite === false ? null : drop);
  return (
    <div className="upload">
      <h1>{uploadTexts.title}</h1>
      {search.asset && folder && <p>{uploadTexts.intoFolder(visibleName(folder.slice(1, -1)))}</p>}
      {mayWrite === false ? (
        <p className="notice">{uploadTexts.notAllowed}</p>
      ) : run ? (
        <UploadProgress
          {...run}
          onMore={() => {
            void navigate({ search: run.requested, replace: true });
            setRun(null);
            setFiles([]);
          }}
        />
      ) : (
        <UploadSetup
          key={`${search.database ?? ''}/${search.asset ?? ''}`}
          files={files}
          initial={search}
          over={over}
          failure={failure}
          onAdd={add}
          onChange={setFiles}
          onStart={(started, place) => {
            setRun({ run: started, place, requested: search });
            // A reload while it runs leads to the same asset, not to a second one.
            const { databaseId: database, assetId: asset } = place;
            void navigate({
              search: { database, asset, folder },
              replace: true,
              ignoreBlocker: true,
            });
            void started.start();
          }}
        />
      )}
    </div>
  );
}
