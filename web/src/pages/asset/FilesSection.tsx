import {
  useQueryClient,
  type QueryClient,
  type UseInfiniteQueryResult,
} from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { filesTexts } from '../../texts/files';
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
import type { File } from '../../api/assets';

interface PendingAction {
  act: Act;
  subject: Subject;
}

interface Props {
  place: Place;
  found: UseInfiniteQueryResult;
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
  const { place, found, files, shown, missing, mayWrite, withArchived } = props;
  const section = useRef<HTMLElement>(null);
  const [pending, setPending] = useState<PendingAction | null>(null);
  const cache = useQueryClient();
  const afterChange = useAfterChange(props);
  const done = async (draft: Draft) => {
    if (!pending) return;
    setPending(null);
    const path = await afterChange(pending.act, pending.subject, draft);
    await new Promise((rendered) => setTimeout(rendered));
    // The row of a file that was archived or deleted is gone, and its button with it.
    const rows = [...(section.current?.querySelectorAll<HTMLElement>('[data-path]') ?? [])];
    const next = rows.find((each) => each.dataset.path === path);
    (next ?? section.current?.querySelector<HTMLElement>('h2'))?.focus();
  };
  const isMove = pending && isFolder(pending.subject) && isTransfer(pending.act);
  const ActionDialog = isMove ? FolderDialog : FileDialog;
  return (
    <section ref={section} aria-labelledby="files">
      <h2 id="files" tabIndex={-1}>
        {assetTexts.files}
      </h2>
      {props.failure !== null && <InlineError query={found} />}
      {found.isPending && <p className="faint">{texts.loading}</p>}
      {files.length > 0 && (
        <FileTree
          place={place}
          files={files}
          hasMore={found.hasNextPage}
          shown={shown}
          missing={missing}
          onAct={mayWrite ? (act, subject) => setPending({ act, subject }) : undefined}
        />
      )}
      {found.hasNextPage && (
        <button
          type="button"
          onClick={() => void found.fetchNextPage()}
          disabled={found.isFetching}
        >
          {assetTexts.moreFiles}
        </button>
      )}
      {mayWrite && (
        <label className="check faint">
          <input
            type="checkbox"
            checked={withArchived}
            onChange={(event) => props.onArchived(event.target.checked)}
          />
          {filesTexts.showArchived}
        </label>
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

/** Shows what a change has left: its file where it is now, and no file that is gone. */
function useAfterChange({ place, shown, found }: Props) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  return async (act: Act, subject: Subject, draft: Draft): Promise<string> => {
    const moved = act === 'move' || act === 'rename';
    const end = isFolder(subject) ? '/' : '';
    const path = moved || act === 'copy' ? destinationPath(draft) + end : subject.path;
    const gone = moved || act === 'archive' || act === 'delete';
    const was = isFolder(subject) ? shown?.startsWith(subject.path) : shown === subject.path;
    if (gone && was) {
      await navigate({
        to: '/databases/$databaseId/assets/$assetId',
        params: { databaseId: place.databaseId, assetId: place.assetId },
        search: { file: moved ? path + (shown ?? '').slice(subject.path.length) : undefined },
        replace: true,
        resetScroll: false,
      });
    }
    await found.refetch();
    // The list with, or without, archived files that is not shown now.
    cache.removeQueries({
      queryKey: ['files', place.databaseId, place.assetId, 'list'],
      type: 'inactive',
    });
    invalidate(cache, place, draft);
    return draft.target ? subject.path : path;
  };
}
