import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ApiError } from '../../api/errors';
import { databasesQuery } from '../../api/queries';
import { uploadTexts } from '../../texts/upload';
import type { Place } from '../../api/downloads';
import { readAsset } from '../../api/assets';
import { CopyCommandButton } from '../../ui/CopyCommandButton';
import { uploadCommand } from '../find/commands';
import { suggestedName, type LocalFile } from './localFiles';
import {
  fileSizesQuery,
  countStatuses,
  useComparison,
  type Comparison,
  type FileStatus,
} from './comparison';
import { FileSelection } from './FileSelection';
import { SameNamesQuestion } from './SameNamesQuestion';
import { useChosenPaths } from './useChosenPaths';
import { findSameNames } from './sameNames';
import { refusedFiles } from './refusedFiles';
import { UploadRun } from './uploadRun';
import { firstDraft, NEW_DATABASE, TargetForm } from './TargetForm';

/** Before an upload: the files, how they compare with those of their target, and the target. */
export function UploadSetup(props: {
  files: LocalFile[];
  initial: { database?: string; asset?: string; folder?: string };
  /** Whether files are dragged over the window. */
  over: boolean;
  failure: string;
  onAdd: (files: LocalFile[]) => void;
  onChange: (files: LocalFile[]) => void;
  onStart: (run: UploadRun, place: Place) => void;
}) {
  const { initial, onStart } = props;
  const cache = useQueryClient();
  const databases = useQuery(databasesQuery);
  const { draft, change } = useDraft(initial, props.files);
  const { kind, databaseId, assetId } = draft;
  const { files, chosen, choose } = useChosenPaths(props.files, assetId);
  const place = kind === 'existing' && databaseId && assetId ? { databaseId, assetId } : null;
  const allowed = databases.data?.find(
    (database) => database.databaseId === databaseId,
  )?.restrictFileUploadsToExtensions;
  const refused = useMemo(() => refusedFiles(files, allowed ?? ''), [files, allowed]);
  const possible = useMemo(() => files.filter(({ path }) => !refused.has(path)), [files, refused]);
  const compared = useComparison(place, possible);
  const [left, setLeft] = useState<ReadonlySet<FileStatus>>(new Set(['same']));
  const remaining = possible.filter(({ path }) => !left.has(compared.statuses.get(path) ?? 'new'));
  const { allLeftOut, needFiles } = uploadTexts;
  const noFiles = possible.length ? allLeftOut : files.length ? uploadTexts.refused.all : needFiles;
  const command =
    place &&
    uploadCommand(
      place,
      remaining.map(({ path }) => path),
    );
  const start = async (into: Place) => {
    // Deleted since it was chosen: the files remain chosen for another one.
    if (place) await readAsset(into).catch(throwNotFound);
    const listed = compared.failure
      ? null
      : cache.query({ ...fileSizesQuery(into), staleTime: 'static' });
    const sizes = new Map(await listed?.catch(() => null));
    for (const [path, status] of compared.statuses) {
      // What was compared is sent as the user decided; the rest is compared while it is sent.
      if (status === 'same' || status === 'replaces') sizes.delete(path);
    }
    onStart(new UploadRun(into, remaining, sizes), into);
  };
  return (
    <>
      <FileSelection
        {...props}
        files={files}
        refused={refused}
        statuses={compared.statuses}
        left={left}
        onChange={(left) => props.onChange(props.files.filter((file) => isIn(left, file)))}
      />
      <SameNamesQuestion
        items={findSameNames(props.files, compared.sizes, initial.folder)}
        chosen={chosen}
        onChoose={choose}
      />
      {possible.length > 0 && (
        <ComparisonSummary compared={compared} left={left} onLeave={setLeft} />
      )}
      <TargetForm
        files={remaining}
        noFiles={noFiles}
        draft={draft}
        change={change}
        onStart={start}
      />
      {command !== null && (
        <div className="acts">
          <CopyCommandButton command={command} />
        </div>
      )}
    </>
  );
}

/** Where the files go to, as far as it is known; the rest is typed. */
function useDraft(initial: { database?: string; asset?: string }, files: readonly LocalFile[]) {
  const databases = useQuery(databasesQuery);
  const [typed, setDraft] = useState(() => firstDraft(initial));
  const onlyDatabase = databases.data?.length === 1 ? databases.data[0]?.databaseId : undefined;
  const name = typed.name ?? suggestedName(files);
  // Who has no database yet gets all of the form filled in: one drop leads to the first picture.
  const isFirst = databases.data?.length === 0;
  const draft = {
    ...typed,
    name,
    description: typed.description ?? (isFirst && name ? uploadTexts.filesOf(name) : ''),
    databaseId: typed.databaseId || (isFirst ? NEW_DATABASE : (onlyDatabase ?? '')),
  };
  const change = (next: Partial<typeof typed>) => setDraft((before) => ({ ...before, ...next }));
  return { draft, change };
}

const isIn = (files: readonly LocalFile[], { file }: LocalFile): boolean =>
  files.some((other) => other.file === file);

function throwNotFound(error: unknown): void {
  if (error instanceof ApiError && error.status === 404) throw error;
}

/** What is new and what is there already, in a sentence, and what of it is left out. */
function ComparisonSummary(props: {
  compared: Comparison;
  left: ReadonlySet<FileStatus>;
  onLeave: (left: ReadonlySet<FileStatus>) => void;
}) {
  const { compared, left, onLeave } = props;
  const { statuses, failure, listing } = compared;
  const totals = countStatuses(statuses.values());
  const toggle = (status: FileStatus, leave: boolean) => {
    const next = new Set(left);
    if (leave) next.add(status);
    else next.delete(status);
    onLeave(next);
  };
  return (
    <div className="stack" role="group" aria-label={uploadTexts.comparison}>
      <p role="status">
        {listing && uploadTexts.checking}
        {statuses.size > 0 && uploadTexts.compared(totals)}
      </p>
      {failure && <p className="notice">{uploadTexts.notCompared(failure)}</p>}
      {(['same', 'alike'] as const).map(
        (status) =>
          totals[status] > 0 && (
            <label key={status} className="check">
              <input
                type="checkbox"
                checked={left.has(status)}
                onChange={(event) => toggle(status, event.target.checked)}
              />
              {uploadTexts.leaveOut[status](totals[status])}
            </label>
          ),
      )}
    </div>
  );
}
