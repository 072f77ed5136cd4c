import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';
import { dependentsTexts } from '../../texts/dependents';
import { Dependents } from '../../ui/Dependents';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { replaceBidiMarks } from '../../texts/formats';
import { UserText } from '../../ui/UserText';
import { toast } from '../../ui/Toasts';
import { useFormError } from '../../ui/useFormError';
import { fileName } from '../../ui/fileKinds';
import type { Place } from '../../api/downloads';
import { destinationPath, toDraft, parentFolder, validateDraft } from './fileChanges';
import { DestinationFields } from './DestinationFields';
import type { FileDialogProps } from './FileDialog';
import { FolderSummary } from './FolderSummary';
import { moveFolder, type NotMoved } from './folders';
import { rememberMove } from './folderMove';
import { folderReferencesQuery, dependentsQuery } from './relationQueries';

const words = filesTexts;

interface State {
  progress: { done: number; of: number } | null;
  left: readonly NotMoved[];
  moved: number;
}
const IDLE: State = { progress: null, left: [], moved: 0 };

/** Renames or moves a folder, file by file; names each file that it could not move. */
export function FolderDialog(props: FileDialogProps) {
  const { place, act, subject, onClose, onAttempt, onDone } = props;
  const [draft, setDraft] = useState(() => props.draft ?? toDraft(act, subject));
  const [{ progress, left, moved }, setState] = useState(IDLE);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  // Closing the dialog stops the move after the file that is being moved.
  const [stop, setStop] = useState(() => new AbortController());
  useEffect(() => () => stop.abort(), [stop]);
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => void (isOpen.current = false);
  }, []);
  const isRunning = progress !== null;
  useEffect(() => {
    if (!isRunning) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isRunning]);
  const name = replaceBidiMarks(fileName(subject.path.slice(0, -1)));
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const wrong = validateDraft(draft, subject);
    if (wrong) {
      showError(wrong.text, act === 'move' ? 'folder' : 'name');
      return;
    }
    clearError();
    const stopping = new AbortController();
    setStop(stopping);
    setState({ ...IDLE, progress: { done: 0, of: 0 } });
    let all = 0;
    const at = (done: number, of: number) => {
      all = of;
      if (!done) rememberMove({ ...place, act, path: subject.path, draft, files: of });
      setState({ ...IDLE, progress: { done, of } });
    };
    try {
      const to = `${destinationPath(draft)}/`;
      const rest = await moveFolder(place, subject.path, to, { signal: stopping.signal, at });
      if (!rest.length) {
        toast(words.done[act](words.theFolder(name)));
        if (isOpen.current) onDone(draft);
        else onAttempt(draft);
        return;
      }
      const done = Math.max(0, all - rest.length);
      setState({ progress: null, left: rest, moved: done });
      if (!isOpen.current) {
        toast(words.notDone[act](words.theFolder(name), words.leftThere(rest.length, done)));
      }
    } catch (error) {
      setState(IDLE);
      showApiError(error);
      if (!isOpen.current) toast(words.notDone[act](words.theFolder(name), errorText(error)));
    } finally {
      rememberMove(null);
    }
    onAttempt(draft);
  };
  const close = () => {
    isOpen.current = false;
    stop.abort();
    onClose();
  };
  const again = left.some((each) => each.again);
  return (
    <Dialog title={words.titles[act](words.folderName(name))} onClose={close}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <DestinationFields {...props} draft={draft} fieldProps={fieldProps} onChange={setDraft} />
        {!left.length && <FolderSummary place={place} path={subject.path} />}
        <BrokenReferences place={place} path={subject.path} to={destinationPath(draft)} />
        {message}
        <p role="status">
          {progress !== null && progress.of > 0 && words.moving(progress.done + 1, progress.of)}
        </p>
        {progress !== null && <Progress {...progress} />}
        <div role="alert">{left.length > 0 && <NotMovedList left={left} moved={moved} />}</div>
        <div className="acts">
          <button type="submit" className="primary" disabled={isRunning}>
            {progress !== null ? words.busy : again ? texts.tryAgain : words.acts[act]}
          </button>
          {progress === null ? (
            <CloseButton text={left.length ? texts.close : texts.cancel} />
          ) : (
            <button type="button" onClick={() => stop.abort()}>
              {words.stop}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const Progress = ({ done, of }: { done: number; of: number }) =>
  of > 0 ? (
    <progress max={of} value={done} aria-label={words.busy} />
  ) : (
    <progress aria-label={words.busy} />
  );

function NotMovedList({ left, moved }: { left: readonly NotMoved[]; moved: number }) {
  const title = words.leftThere(left.length, moved);
  return (
    <>
      <p>{title}</p>
      <ul className="names" tabIndex={0} aria-label={title}>
        {left.map(({ path, reason }) => (
          <li key={path}>
            <UserText text={path.slice(1)} /> <span className="faint">{reason}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** What will not be found after a move: files of the folder by others, and others by its files. */
function BrokenReferences({ place, path, to }: { place: Place; path: string; to: string }) {
  const users = useQuery({ ...dependentsQuery(place, path), staleTime: 0 });
  const leaves = parentFolder(to) !== parentFolder(path.slice(0, -1));
  const needs = useQuery({ ...folderReferencesQuery(place, path), enabled: leaves, staleTime: 0 });
  const { folder, folderNeeds } = dependentsTexts;
  return (
    <>
      <Dependents query={users} title={folder} />
      {leaves && <Dependents query={needs} title={folderNeeds} />}
    </>
  );
}
