import {
  useQuery,
  useQueryClient,
  type QueryClient,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { usePermissions } from '../../api/queries';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { filesTexts } from '../../texts/files';
import { TransferDialog, type OpenedDialog } from './TransferDialog';
import { MoreButton } from '../../ui/MoreButton';
import { InlineError } from '../../ui/InlineError';
import type { Place } from '../../api/downloads';
import {
  destinationPath,
  listFolders,
  isFolder,
  isTransfer,
  type Act,
  type Draft,
  type Subject,
} from './fileChanges';
import { FileDialog } from './FileDialog';
import { FolderDialog } from './FolderDialog';
import { FileTree } from './FileTree';
import { assetQuery, type File } from '../../api/assets';
import type { LocalFile } from '../upload/localFiles';
import { DROPPED_FILES } from '../upload/useFileDrop';
import { saveDownload } from './AssetButtons';
import type { Transfer } from './FileMenu';

interface PendingAction {
  act: Act;
  subject: Subject;
  /** Where it was dragged to. */
  folder?: string | undefined;
}

interface Props {
  place: Place;
  query: UseInfiniteQueryResult;
  failure: unknown;
  files: File[];
  shown: string | undefined;
  missing: ReadonlyMap<string, number> | undefined;
  mayWrite: boolean;
  withArchived: boolean;
  onArchived: (shown: boolean) => void;
}

/** The files of an asset, and what can be done with them. */
export function FilesSection(props: Props) {
  const { place, query, files, shown, missing, mayWrite, withArchived } = props;
  const mayDownload = useMayDownload(place);
  const section = useRef<HTMLElement>(null);
  const [pending, setPending] = useState<PendingAction | null>(null);
  const cache = useQueryClient();
  const afterChange = useAfterChange(props);
  const [opened, setOpened] = useState<OpenedDialog | null>(null);
  const transfer = useTransfer(place, setOpened);
  const setAct = (act: Act, subject: Subject, folder?: string) =>
    setPending({ act, subject, folder });
  const done = async (draft: Draft) => {
    if (!pending) return;
    setPending(null);
    const path = await afterChange(pending.act, pending.subject, draft);
    await new Promise((rendered) => setTimeout(rendered));
    // The row of an archived or deleted file was removed, with its button.
    const rows = [...(section.current?.querySelectorAll<HTMLElement>('[data-path]') ?? [])];
    const next = rows.find((row) => row.dataset.path === path);
    (next ?? section.current?.querySelector<HTMLElement>('h2'))?.focus();
  };
  const isMove = pending && isFolder(pending.subject) && isTransfer(pending.act);
  const ActionDialog = isMove ? FolderDialog : FileDialog;
  return (
    <section ref={section} aria-labelledby="files">
      <div className="acts">
        <h2 id="files" tabIndex={-1}>
          {assetTexts.files}
        </h2>
        {mayDownload && files.filter((file) => !file.isArchived).length > 1 && (
          <button
            type="button"
            className="small quiet"
            onClick={() => setOpened({ transfer: 'zip', path: '/' })}
          >
            {filesTexts.downloadAll}
          </button>
        )}
      </div>
      {props.failure !== null && <InlineError query={query} />}
      {query.isPending && <p className="faint">{texts.loading}</p>}
      {files.length > 0 && (
        <FileTree
          place={place}
          files={files}
          hasMore={query.hasNextPage}
          shown={shown}
          missing={missing}
          actions={
            mayWrite || mayDownload
              ? { onTransfer: transfer, onAct: mayWrite ? setAct : undefined }
              : undefined
          }
        />
      )}
      <MoreButton query={query} text={assetTexts.moreFiles} />
      {mayWrite && <ArchivedChoice shown={withArchived} onChange={props.onArchived} />}
      {opened && (
        <TransferDialog
          {...opened}
          place={place}
          mayWrite={mayWrite}
          onClose={() => setOpened(null)}
        />
      )}
      {pending && (
        <ActionDialog
          {...pending}
          place={place}
          folders={listFolders(files)}
          onClose={() => setPending(null)}
          onAttempt={(draft) => invalidate(cache, place, draft)}
          onDone={(draft) => void done(draft)}
        />
      )}
    </section>
  );
}

/** Whether the files may be downloaded, and are there to be. */
function useMayDownload(place: Place): boolean {
  const asset = useQuery(assetQuery(place)).data;
  const { download } = usePermissions();
  return download && asset?.status === 'active' && asset.isDistributable;
}

function ArchivedChoice(props: { shown: boolean; onChange: (shown: boolean) => void }) {
  return (
    <label className="check faint">
      <input
        type="checkbox"
        checked={props.shown}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {filesTexts.showArchived}
    </label>
  );
}

/** Downloads a file; opens the page of uploads for a folder, or with a new version of a file. */
function useTransfer(place: Place, open: (dialog: OpenedDialog) => void) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { databaseId: database, assetId: asset } = place;
  const upload = (folder?: string) =>
    void navigate({ to: '/upload', search: { database, asset, folder } });
  return (transfer: Transfer, { path }: Subject) => {
    if (transfer === 'download') {
      void saveDownload(place, path);
      return;
    }
    if (transfer === 'versions' || transfer === 'zip') {
      open({ transfer, path });
      return;
    }
    if (transfer === 'upload') {
      upload(path);
      return;
    }
    const picker = Object.assign(document.createElement('input'), { type: 'file' });
    picker.addEventListener('change', () => {
      const [file] = picker.files ?? [];
      if (!file) return;
      cache.setQueryData<LocalFile[]>(DROPPED_FILES, [{ file, path }]);
      upload();
    });
    picker.click();
  };
}

/** Requests again all that a change of files may have changed. */
function invalidate(cache: QueryClient, place: Place, draft: Draft): void {
  const { databaseId, assetId } = draft.target ?? place;
  for (const queryKey of [
    ['files', place.databaseId, place.assetId],
    ['files', databaseId, assetId],
    ['asset', place.databaseId, place.assetId],
    ['search'],
    ['previews'],
  ]) {
    void cache.invalidateQueries({ queryKey });
  }
}

/** Shows what a change has left: its file where it is now, and no file that was removed. */
function useAfterChange({ place, shown, query }: Props) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return async (act: Act, subject: Subject, draft: Draft): Promise<string> => {
    const moved = act === 'move' || act === 'rename';
    const end = isFolder(subject) ? '/' : '';
    const path = moved || act === 'copy' ? destinationPath(draft) + end : subject.path;
    const isRemoved = moved || act === 'archive' || act === 'delete';
    const wasShown = isFolder(subject) ? shown?.startsWith(subject.path) : shown === subject.path;
    if (isRemoved && wasShown) {
      await navigate({
        to: '/databases/$databaseId/assets/$assetId',
        params: { databaseId: place.databaseId, assetId: place.assetId },
        search: { file: moved ? path + (shown ?? '').slice(subject.path.length) : undefined },
        replace: true,
        resetScroll: false,
      });
    }
    await query.refetch();
    // The list with, or without, archived files that is not shown now.
    cache.removeQueries({
      queryKey: ['files', place.databaseId, place.assetId, 'list'],
      type: 'inactive',
    });
    invalidate(cache, place, draft);
    return draft.target ? subject.path : path;
  };
}
