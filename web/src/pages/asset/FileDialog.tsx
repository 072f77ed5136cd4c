import { useQuery } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState, type SyntheticEvent } from 'react';
import { sentence } from '../../api/errors';
import { texts } from '../../texts';
import { AssetChoice, DatabaseChoice } from '../../ui/Choices';
import { Dependents } from '../../ui/Dependents';
import { Cancel, Dialog } from '../../ui/Dialog';
import { legible } from '../../ui/formats';
import { say } from '../../ui/Toasts';
import { useRefusal, type Marks } from '../../ui/useRefusal';
import { nameOf } from '../../viewer/kinds';
import type { Place } from '../../viewer/sources';
import {
  change,
  destinationOf,
  draftOf,
  folderOf,
  isFolder,
  refusal,
  stemOf,
  type Act,
  type Draft,
  type Subject,
} from './changes';
import { referencesOf, relativeOf, usersOf } from './relations';

const words = texts.files;

interface Props {
  place: Place;
  act: Act;
  subject: Subject;
  folders: readonly string[];
  onClose: () => void;
  /** After each try: a change that failed may still have been made. */
  onTried: () => void;
  onDone: (draft: Draft) => void;
}

/** Asks for what an act needs, carries it out, and stays open with all that was typed if it fails. */
export function FileDialog(props: Props) {
  const { place, act, subject, onClose, onTried, onDone } = props;
  const [draft, setDraft] = useState(() => draftOf(act, subject));
  const [state, setState] = useState({ busy: false, job: false });
  const { marks, refuse, refuseBy, accept, message } = useRefusal();
  const isOpen = useRef(true);
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
        onTried();
      });
      say(words.done[act](begun));
      if (isOpen.current) onDone(draft);
      else onTried();
    } catch (error) {
      setState({ busy: false, job: false });
      refuseBy(error, { destinationPath: asked(act), FileExists: asked(act) });
      if (!isOpen.current) say(words.notDone[act](begun, sentence(error)));
      onTried();
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
function Misses({ place, act, subject, draft }: Props & { draft: Draft }) {
  const { path } = subject;
  const users = useQuery({ ...usersOf(place, path), enabled: isGone(act), staleTime: 0 });
  const leaves = isTransfer(act) && (draft.target !== null || !staysBeside(draft, path));
  const needs = useQuery({ ...referencesOf(place, path), enabled: leaves, select: relativeOf });
  const { file, folder, needs: needed } = texts.dependents;
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

const isTransfer = (act: Act): boolean => ['rename', 'move', 'copy'].includes(act);

function meaning(act: Act, subject: Subject): string {
  if (act === 'restore') return words.restoreFile;
  if (act === 'archive') return isFolder(subject) ? words.archiveFolder : words.archiveFile;
  return isFolder(subject) ? words.deleteFolder : words.deleteFile;
}

type Part = Props & { draft: Draft; marks: Marks; onChange: (draft: Draft) => void };

function Destination(props: Part) {
  const { act } = props;
  return (
    <>
      {act !== 'move' && <FileName {...props} />}
      {act !== 'rename' && <FolderName {...props} />}
      {act === 'copy' && <Target {...props} />}
    </>
  );
}

function FileName({ draft, marks, onChange }: Part) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const input = field.current;
    // Typing replaces the name and keeps the extension.
    input?.setSelectionRange(0, stemOf(input.value)[0].length);
  }, []);
  return (
    <>
      <label htmlFor={id}>{words.name}</label>
      <input
        ref={field}
        id={id}
        dir="auto"
        maxLength={255}
        autoComplete="off"
        {...marks('name')}
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
    </>
  );
}

function FolderName({ draft, folders, marks, onChange }: Part) {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{words.folder}</label>
      <input
        id={id}
        dir="auto"
        list={`${id}-folders`}
        maxLength={1024}
        autoComplete="off"
        {...marks('folder', `${id}-help`)}
        value={draft.folder}
        onChange={(event) => onChange({ ...draft, folder: event.target.value })}
      />
      <datalist id={`${id}-folders`}>
        {!draft.target && folders.map((each) => <option key={each} value={each} />)}
      </datalist>
      <p id={`${id}-help`} className="help">
        {words.folderHelp}
      </p>
    </>
  );
}

function Target({ place, draft, marks, onChange }: Part) {
  const { target } = draft;
  const id = useId();
  const choose = (other: Place | null) => onChange({ ...draft, target: other });
  return (
    <>
      <div className="acts" role="radiogroup" aria-label={words.copyTo}>
        {[false, true].map((other) => (
          <label key={String(other)} className="check">
            <input
              type="radio"
              name={id}
              checked={(target !== null) === other}
              onChange={() => choose(other ? { ...place, assetId: '' } : null)}
            />
            {other ? words.otherAsset : words.thisAsset}
          </label>
        ))}
      </div>
      {target && (
        <>
          <DatabaseChoice
            value={target.databaseId}
            onChange={(databaseId) => choose({ databaseId, assetId: '' })}
          />
          <AssetChoice
            databaseId={target.databaseId}
            value={target.assetId}
            marks={marks('asset')}
            onChange={(assetId) => choose({ ...target, assetId })}
          />
        </>
      )}
    </>
  );
}
