import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ApiError } from '../../api/errors';
import { databases } from '../../api/queries';
import { uploadTexts } from '../../texts/upload';
import type { Place } from '../../viewer/sources';
import { readAsset } from '../asset/queries';
import { suggestedName, type Chosen } from './chosen';
import { sizesOf, totalsOf, useComparison, type Comparison, type Mark } from './comparing';
import { Files } from './Files';
import { refusedFiles } from './names';
import { Run } from './run';
import { firstDraft, Target } from './Target';

/** Before an upload: the files, how they compare with those of their target, and the target. */
export function Prepare(props: {
  files: Chosen[];
  given: { database?: string; asset?: string };
  /** Whether files are dragged over the window. */
  over: boolean;
  failure: string;
  onAdd: (files: Chosen[]) => void;
  onChange: (files: Chosen[]) => void;
  onStart: (run: Run, place: Place) => void;
}) {
  const { files, given, onStart } = props;
  const cache = useQueryClient();
  const known = useQuery(databases);
  const [typed, setDraft] = useState(() => firstDraft(given));
  const only = known.data?.length === 1 ? known.data[0]?.databaseId : undefined;
  const draft = {
    ...typed,
    name: typed.name ?? suggestedName(files),
    databaseId: typed.databaseId || (only ?? ''),
  };
  const { kind, databaseId, assetId } = draft;
  const place = kind === 'existing' && databaseId && assetId ? { databaseId, assetId } : null;
  const allowed = known.data?.find(
    (each) => each.databaseId === databaseId,
  )?.restrictFileUploadsToExtensions;
  const refused = useMemo(() => refusedFiles(files, allowed ?? ''), [files, allowed]);
  const possible = useMemo(() => files.filter(({ path }) => !refused.has(path)), [files, refused]);
  const compared = useComparison(place, possible);
  const [left, setLeft] = useState<ReadonlySet<Mark>>(new Set(['same']));
  const kept = possible.filter(({ path }) => !left.has(compared.marks.get(path) ?? 'new'));
  const { allLeftOut, needFiles } = uploadTexts;
  const noFiles = possible.length ? allLeftOut : files.length ? uploadTexts.refused.all : needFiles;
  const start = async (into: Place) => {
    // Deleted since it was chosen: the files remain chosen for another one.
    if (place) await readAsset(into).catch(isGone);
    const listed = compared.failure ? null : cache.query({ ...sizesOf(into), staleTime: 'static' });
    const sizes = new Map(await listed?.catch(() => null));
    for (const [path, mark] of compared.marks) {
      // What was compared is sent as the user decided; the rest is compared while it is sent.
      if (mark === 'same' || mark === 'replaces') sizes.delete(path);
    }
    onStart(new Run(into, kept, sizes), into);
  };
  return (
    <>
      <Files {...props} refused={refused} marks={compared.marks} left={left} />
      {possible.length > 0 && <Totals compared={compared} left={left} onLeave={setLeft} />}
      <Target
        files={kept}
        noFiles={noFiles}
        draft={draft}
        change={(next) => setDraft((before) => ({ ...before, ...next }))}
        onStart={start}
      />
    </>
  );
}

function isGone(error: unknown): void {
  if (error instanceof ApiError && error.status === 404) throw error;
}

/** What is new and what is there already, in a sentence, and what of it is left out. */
function Totals(props: {
  compared: Comparison;
  left: ReadonlySet<Mark>;
  onLeave: (left: ReadonlySet<Mark>) => void;
}) {
  const { compared, left, onLeave } = props;
  const { marks, failure, listing } = compared;
  const totals = totalsOf(marks.values());
  const toggle = (mark: Mark, leave: boolean) => {
    const next = new Set(left);
    if (leave) next.add(mark);
    else next.delete(mark);
    onLeave(next);
  };
  return (
    <div className="stack" role="group" aria-label={uploadTexts.comparison}>
      <p role="status">
        {listing && uploadTexts.checking}
        {marks.size > 0 && uploadTexts.compared(totals)}
      </p>
      {failure && <p className="notice">{uploadTexts.notCompared(failure)}</p>}
      {(['same', 'alike'] as const).map(
        (mark) =>
          totals[mark] > 0 && (
            <label key={mark} className="check">
              <input
                type="checkbox"
                checked={left.has(mark)}
                onChange={(event) => toggle(mark, event.target.checked)}
              />
              {uploadTexts.leaveOut[mark](totals[mark])}
            </label>
          ),
      )}
    </div>
  );
}
