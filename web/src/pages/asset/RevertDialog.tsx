import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';
import { versionsTexts } from '../../texts/versions';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { InlineError } from '../../ui/InlineError';
import { toast } from '../../ui/Toasts';
import { useFormError } from '../../ui/useFormError';
import { useIsOpen } from '../../ui/useIsOpen';
import { FileList } from './CompareDialog';
import { invalidateVersions } from './invalidateVersions';
import {
  differencesSinceQuery,
  revertVersion,
  type FileDifferences,
  type ListedVersion,
  type WholeVersion,
} from './versionQueries';

const words = versionsTexts;

/** Gives the files the content of a version, once it is shown what that changes. */
export function RevertDialog(props: {
  place: Place;
  version: Pick<ListedVersion, 'Version'>;
  onClose: () => void;
}) {
  const { place, onClose } = props;
  const { Version: version } = props.version;
  const id = useId();
  const cache = useQueryClient();
  const isOpen = useIsOpen();
  const differences = useQuery(differencesSinceQuery(place, version));
  const [comment, setComment] = useState<string>(words.revertComment(version));
  const [revertMetadata, setRevertMetadata] = useState(false);
  const [state, setState] = useState({ busy: false, job: false });
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    if (!comment.trim()) {
      showError(words.needsComment, 'comment');
      return;
    }
    clearError();
    setState({ busy: true, job: false });
    try {
      const body = { comment: comment.trim(), revertMetadata };
      const onJob = () => setState({ busy: true, job: true });
      const { id: created } = await revertVersion(place, version, body, onJob);
      toast(words.reverted(version, created));
      if (isOpen.current) onClose();
    } catch (error) {
      setState({ busy: false, job: false });
      showApiError(error);
      if (!isOpen.current) toast(words.notReverted(version, errorText(error)));
    }
    // Also after a failure: what is not known to be restored may be.
    invalidateVersions(cache, place);
  };
  return (
    <Dialog title={words.revertTitle(version)} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <p>{words.revertHelp}</p>
        {differences.isPending && <p role="status">{texts.loading}</p>}
        <InlineError query={differences} />
        {differences.data && <Effects differences={differences.data} />}
        <label htmlFor={id}>{words.comment}</label>
        <input
          id={id}
          dir="auto"
          maxLength={256}
          {...fieldProps('comment')}
          value={comment}
          onChange={(event) => setComment(event.target.value)}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={revertMetadata}
            onChange={(event) => setRevertMetadata(event.target.checked)}
          />
          {words.revertMetadata}
        </label>
        {message}
        {state.job && <p role="status">{words.job}</p>}
        <div className="acts">
          <button type="submit" className="primary" disabled={state.busy || !differences.data}>
            {state.busy ? filesTexts.busy : words.revert}
          </button>
          <CloseButton text={state.busy ? texts.close : texts.cancel} first />
        </div>
      </form>
    </Dialog>
  );
}

/** What a return to the version does to the files that are there now. */
function Effects({
  differences: { changed, removed, added, version },
}: {
  differences: FileDifferences & { version: WholeVersion };
}) {
  const gone = new Set(
    version.files
      .filter((file) => file.isPermanentlyDeleted)
      .map((file) => `/${file.relativeKey.replace(/^\/+/, '')}`),
  );
  const isLost = ({ path }: { path: string }) => gone.has(path);
  const isKept = ({ path }: { path: string }) => !gone.has(path);
  const lost = [...changed, ...removed].filter(isLost);
  // From the content of now to that of the version.
  const replaced = changed
    .filter(isKept)
    .map(({ path, before, after }) => ({ path, before: after, after: before }));
  const restored = removed.filter(isKept);
  return (
    <div className="differences">
      {!replaced.length && !restored.length && <p>{words.keepsAll}</p>}
      <FileList title={words.replaces(replaced.length)} files={replaced} />
      <FileList title={words.restores(restored.length)} files={restored} />
      <FileList title={words.lost(lost.length)} files={lost} />
      {added.length > 0 && <p className="faint">{words.keeps(added.length)}</p>}
    </div>
  );
}
