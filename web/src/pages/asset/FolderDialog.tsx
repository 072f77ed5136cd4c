import { useQuery } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { errorText, JobFailedError } from '../../api/errors';
import type { Job } from '../../api/jobs';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';
import { dependentsTexts } from '../../texts/dependents';
import { Dependents } from '../../ui/Dependents';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { visibleName } from '../../texts/formats';
import { UserText } from '../../ui/UserText';
import { toast } from '../../ui/Toasts';
import { useFormError } from '../../ui/useFormError';
import { useIsOpen } from '../../ui/useIsOpen';
import { fileName } from '../../ui/fileKinds';
import type { Place } from '../../api/downloads';
import { destinationPath, toDraft, parentFolder, validateDraft } from './fileChanges';
import { DestinationFields } from './DestinationFields';
import { changedField, type FileDialogProps } from './FileDialog';
import { FolderSummary } from './FolderSummary';
import { cancelMove, moveFolder } from './folders';
import { folderReferencesQuery, dependentsQuery } from './relationQueries';

const words = filesTexts;

interface State {
  isRunning: boolean;
  job: Job | null;
}
const IDLE: State = { isRunning: false, job: null };

/** Renames or moves a folder by a job of the server; names each file that it could not move. */
export function FolderDialog(props: FileDialogProps) {
  const { place, act, subject, onClose, onAttempt, onDone } = props;
  const [draft, setDraft] = useState(() => toDraft(act, subject, props.folder));
  const [{ isRunning, job }, setState] = useState(IDLE);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const isOpen = useIsOpen();
  const name = visibleName(fileName(subject.path.slice(0, -1)));
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const wrong = validateDraft(draft, subject);
    if (wrong) {
      showError(wrong.text, changedField(act));
      return;
    }
    clearError();
    setState({ isRunning: true, job: null });
    const [label, field] = [words.theFolder(name), changedField(act)];
    try {
      const to = `${destinationPath(draft)}/`;
      const job = await moveFolder(place, subject.path, to, (job) => {
        setState({ isRunning: true, job });
      });
      const problems = toSentences(job);
      if (!problems.length) {
        toast(words.done[act](label));
        if (isOpen.current) {
          onDone(draft);
          return;
        }
      } else if (!isOpen.current) toast(words.notDone[act](label, problems.join(' ')));
      setState({ isRunning: false, job });
    } catch (error) {
      setState(IDLE);
      showApiError(error, { destinationPath: field, FileExists: field });
      if (!isOpen.current) toast(words.notDone[act](label, errorText(error)));
    }
    onAttempt(draft);
  };
  const stop = () => void (job && cancelMove(job.jobId).catch(showApiError));
  return (
    <Dialog title={words.titles[act](words.folderName(name))} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <DestinationFields {...props} draft={draft} fieldProps={fieldProps} onChange={setDraft} />
        {!job && <FolderSummary place={place} path={subject.path} />}
        <BrokenReferences place={place} path={subject.path} to={destinationPath(draft)} />
        {message}
        <p role="status">{isRunning && job && words.job}</p>
        {isRunning && <Progress job={job} />}
        <div role="alert">{!isRunning && job && <NotMovedList job={job} />}</div>
        <div className="acts">
          <button type="submit" className="primary" disabled={isRunning}>
            {isRunning ? words.busy : words.acts[act]}
          </button>
          {isRunning && job && (
            <button type="button" onClick={stop}>
              {words.stop}
            </button>
          )}
          <CloseButton text={isRunning || job ? texts.close : texts.cancel} />
        </div>
      </form>
    </Dialog>
  );
}

/** The problems of a job, in sentences. */
const toSentences = (job: Job): string[] =>
  job.problems.map((problem) => errorText(new JobFailedError([problem])));

function Progress({ job }: { job: Job | null }) {
  if (!job?.itemsTotal) return <progress aria-label={words.busy} />;
  const text = words.moved(job.itemsDone, job.itemsTotal);
  return (
    <>
      <p>{text}</p>
      <progress max={job.itemsTotal} value={job.itemsDone} aria-label={words.busy} />
    </>
  );
}

function NotMovedList({ job }: { job: Job }) {
  const problems = toSentences(job);
  const left = Math.max(0, (job.itemsTotal ?? 0) - job.itemsDone) || problems.length;
  const title = words.leftThere(left, job.itemsDone);
  return (
    <>
      <p>{title}</p>
      <ul className="names" tabIndex={0} aria-label={title}>
        {problems.map((problem) => (
          <li key={problem}>
            <UserText text={problem} />
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
