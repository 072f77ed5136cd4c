import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { sentence } from '../../api/errors';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';
import { dependentsTexts } from '../../texts/dependents';
import { Dependents } from '../../ui/Dependents';
import { Cancel, Dialog } from '../../ui/Dialog';
import { legible } from '../../ui/formats';
import { say } from '../../ui/Toasts';
import { useRefusal } from '../../ui/useRefusal';
import { nameOf } from '../../viewer/kinds';
import type { Place } from '../../viewer/sources';
import {
  change,
  destinationOf,
  draftOf,
  folderOf,
  isFolder,
  isTransfer,
  refusal,
  type Act,
  type Draft,
  type Subject,
} from './changes';
import { Destination } from './Destination';
import { Holds } from './FolderDialog';
import { referencesOf, relativeOf, usersOf } from './relationQueries';

const words = filesTexts;

export interface FileDialogProps {
  place: Place;
  act: Act;
  subject: Subject;
  folders: readonly string[];
  /** Where a folder is to be, if that was chosen before. */
  draft?: Draft;
  onClose: () => void;
  /** After each try: a change that failed may still have been made. */
  onTried: (draft: Draft) => void;
  onDone: (draft: Draft) => void;
}

/** Asks for what an act needs, carries it out, and stays open with all that was typed if it fails. */
export function FileDialog(props: FileDialogProps) {
  const { place, act, subject, onClose, onTried, onDone } = props;
  const [draft, setDraft] = useState(() => draftOf(act, subject));
  const [state, setState] = useState({ busy: false, job: false });
  const { marks, refuse, refuseBy, accept, message } = useRefusal();
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    // Also where somebody goes back to another page meanwhile: what follows must not lead here.
    return () => void (isOpen.current = false);
  }, []);
  const name = nameOf(subject.path.replace(/\/$/, ''));
  const title = legible(isFolder(subject) ? words.folderName(name) : name);
  const begun = legible(isFolder(subject) ? words.theFolder(name) : name);
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const wrong = isTransfer(act) ? refusal(draft, subject) : null;
    if (wrong) {
      // Moving asks for no name, and renaming for no folder.
      refuse(wrong.text, wrong.field === 'name' ? asked(act) : wrong.field);
      return;
    }
    accept();
    setState({ busy: true, job: false });
    try {
      await change(place, act, subject, draft, () => {
        setState({ busy: true, job: true });
        onTried(draft);
      });
      say(words.done[act](begun));
      if (isOpen.current) onDone(draft);
      else onTried(draft);
    } catch (error) {
      setState({ busy: false, job: false });
      refuseBy(error, { destinationPath: asked(act), FileExists: asked(act) });
      if (!isOpen.current) say(words.notDone[act](begun, sentence(error)));
      onTried(draft);
    }
  };
  const close = () => {
    isOpen.current = false;
    onClose();
  };
  return (
    <Dialog title={words.titles[act](title)} onClose={close}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {isTransfer(act) ? (
          <Destination {...props} draft={draft} marks={marks} onChange={setDraft} />
        ) : (
          <p>{meaning(act, subject)}</p>
        )}
        {isFolder(subject) && <Holds place={place} path={subject.path} />}
        <Misses {...props} draft={draft} />
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
          <Cancel
            text={state.busy ? texts.close : texts.cancel}
            first={act === 'delete' || act === 'archive'}
          />
        </div>
      </form>
    </Dialog>
  );
}

/** What will not be found after the act: by other files, and by the file at another place. */
function Misses({ place, act, subject, draft }: FileDialogProps & { draft: Draft }) {
  const { path } = subject;
  const users = useQuery({ ...usersOf(place, path), enabled: isGone(act), staleTime: 0 });
  const leaves = isTransfer(act) && (draft.target !== null || !staysBeside(draft, path));
  const needs = useQuery({ ...referencesOf(place, path), enabled: leaves, select: relativeOf });
  const { file, folder, needs: needed } = dependentsTexts;
  return (
    <>
      {isGone(act) && <Dependents found={users} title={isFolder(subject) ? folder : file} />}
      {leaves && <Dependents found={needs} title={needed} />}
    </>
  );
}

/** The field that holds what an act changes of a path. */
const asked = (act: Act): 'folder' | 'name' => (act === 'move' ? 'folder' : 'name');

const isGone = (act: Act): boolean => !['copy', 'restore'].includes(act);

const staysBeside = (draft: Draft, path: string): boolean =>
  folderOf(destinationOf(draft)) === folderOf(path);

function meaning(act: Act, subject: Subject): string {
  if (act === 'restore') return words.restoreFile;
  if (act === 'archive') return isFolder(subject) ? words.archiveFolder : words.archiveFile;
  return isFolder(subject) ? words.deleteFolder : words.deleteFile;
}
