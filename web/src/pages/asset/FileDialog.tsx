import { useQuery } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';
import { dependentsTexts } from '../../texts/dependents';
import { Dependents } from '../../ui/Dependents';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { visibleName } from '../../texts/formats';
import { toast } from '../../ui/Toasts';
import { useIsOpen } from '../../ui/useIsOpen';
import { useFormError } from '../../ui/useFormError';
import { fileName } from '../../ui/fileKinds';
import type { Place } from '../../api/downloads';
import {
  changeFile,
  destinationPath,
  toDraft,
  parentFolder,
  isFolder,
  isTransfer,
  validateDraft,
  type Act,
  type Draft,
  type Subject,
} from './fileChanges';
import { DestinationFields } from './DestinationFields';
import { FolderSummary } from './FolderSummary';
import { archiveUndo } from './undoArchive';
import { referencesQuery, referencedPaths, dependentsQuery } from './relationQueries';

const words = filesTexts;

export interface FileDialogProps {
  place: Place;
  act: Act;
  subject: Subject;
  /** Where something was dragged to. */
  folder?: string | undefined;
  folders: readonly string[];
  onClose: () => void;
  /** After each try: a change that failed may still have been made. */
  onAttempt: (draft: Draft) => void;
  onDone: (draft: Draft) => void;
}

/** Requests what an act needs, carries it out, and stays open with all that was typed if it fails. */
export function FileDialog(props: FileDialogProps) {
  const { place, act, subject, onClose, onAttempt, onDone } = props;
  const [draft, setDraft] = useState(() => toDraft(act, subject, props.folder));
  const [state, setState] = useState({ busy: false, job: false });
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const isOpen = useIsOpen();
  const name = fileName(subject.path.replace(/\/$/, ''));
  const title = visibleName(isFolder(subject) ? words.folderName(name) : name);
  const label = visibleName(isFolder(subject) ? words.theFolder(name) : name);
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const wrong = isTransfer(act) ? validateDraft(draft, subject) : null;
    if (wrong) {
      // The form for moving has no name, and that for renaming no folder.
      showError(wrong.text, wrong.field === 'name' ? changedField(act) : wrong.field);
      return;
    }
    clearError();
    setState({ busy: true, job: false });
    try {
      const archivedSince = await changeFile(place, act, subject, draft, () => {
        setState({ busy: true, job: true });
        onAttempt(draft);
      });
      const undo = () =>
        archiveUndo(place, { ...subject, archivedSince }, label, () => onAttempt(draft));
      toast(words.done[act](label), act === 'archive' ? undo() : undefined);
      if (isOpen.current) onDone(draft);
      else onAttempt(draft);
    } catch (error) {
      setState({ busy: false, job: false });
      showApiError(error, { destinationPath: changedField(act), FileExists: changedField(act) });
      if (!isOpen.current) toast(words.notDone[act](label, errorText(error)));
      onAttempt(draft);
    }
  };
  return (
    <Dialog title={words.titles[act](title)} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {isTransfer(act) ? (
          <DestinationFields {...props} draft={draft} fieldProps={fieldProps} onChange={setDraft} />
        ) : (
          <p>{explain(act, subject)}</p>
        )}
        {isFolder(subject) && <FolderSummary place={place} path={subject.path} />}
        <BrokenReferences {...props} draft={draft} />
        {message}
        {state.job && <p role="status">{words.job}</p>}
        <div className="acts">
          <button
            type="submit"
            className={act === 'delete' ? 'primary danger' : 'primary'}
            disabled={state.busy}
          >
            {state.busy ? words.busy : words.acts[act]}
          </button>
          <CloseButton
            text={state.busy ? texts.close : texts.cancel}
            first={act === 'delete' || act === 'archive'}
          />
        </div>
      </form>
    </Dialog>
  );
}

/** What will not be found after the act: by other files, and by the file at another place. */
function BrokenReferences({ place, act, subject, draft }: FileDialogProps & { draft: Draft }) {
  const { path } = subject;
  const users = useQuery({
    ...dependentsQuery(place, path),
    enabled: removesPath(act),
    staleTime: 0,
  });
  const leaves = isTransfer(act) && (draft.target !== null || !staysInFolder(draft, path));
  const needs = useQuery({
    ...referencesQuery(place, path),
    enabled: leaves,
    select: referencedPaths,
  });
  const { file, folder, needs: needed } = dependentsTexts;
  return (
    <>
      {removesPath(act) && <Dependents query={users} title={isFolder(subject) ? folder : file} />}
      {leaves && <Dependents query={needs} title={needed} />}
    </>
  );
}

/** The field that holds what an act changes of a path. */
export const changedField = (act: Act): 'folder' | 'name' => (act === 'move' ? 'folder' : 'name');

const removesPath = (act: Act): boolean => !['copy', 'restore'].includes(act);

const staysInFolder = (draft: Draft, path: string): boolean =>
  parentFolder(destinationPath(draft)) === parentFolder(path);

function explain(act: Act, subject: Subject): string {
  if (act === 'restore') return isFolder(subject) ? words.restoreFolder : words.restoreFile;
  if (act === 'archive') return isFolder(subject) ? words.archiveFolder : words.archiveFile;
  return isFolder(subject) ? words.deleteFolder : words.deleteFile;
}
