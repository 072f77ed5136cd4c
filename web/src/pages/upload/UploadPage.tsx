import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { errorText } from '../../api/errors';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { uploadTexts } from '../../texts/upload';
import { useStore } from '../../api/createStore';
import { currentUpload, removeUpload } from './currentUpload';
import type { LocalFile } from './localFiles';
import { DROPPED_FILES, useFileDrop } from './useFileDrop';
import { UploadSetup } from './UploadSetup';
import { UploadProgress } from './UploadProgress';
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
  const upload = useStore(currentUpload);
  useEffect(() => {
    document.title = `${uploadTexts.title} · ${texts.product}`;
  }, []);
  useEffect(() => cache.removeQueries({ queryKey: DROPPED_FILES }), [cache]);
  useEffect(
    () => () => {
      if (currentUpload.current()?.run.isComplete()) removeUpload();
    },
    [],
  );
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
  const { over } = useFileDrop(upload || mayWrite === false ? null : drop);
  return (
    <div className="upload">
      <h1>{uploadTexts.title}</h1>
      {search.asset && folder && <p>{uploadTexts.intoFolder(visibleName(folder.slice(1, -1)))}</p>}
      {mayWrite === false ? (
        <p className="notice">{uploadTexts.notAllowed}</p>
      ) : upload ? (
        <UploadProgress
          {...upload}
          onMore={() => {
            const { place, requested } = upload;
            const isOfUpload = search.asset === place.assetId;
            void navigate({ search: isOfUpload ? requested : search, replace: true });
            removeUpload();
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
            currentUpload.set({ run: started, place, requested: search });
            setFiles([]);
            // A reload while it runs leads to the same asset, not to a second one.
            const { databaseId: database, assetId: asset } = place;
            void navigate({
              search: { database, asset, folder },
              replace: true,
            });
            void started.start();
          }}
        />
      )}
    </div>
  );
}
