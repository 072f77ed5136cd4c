import { useQueryClient } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { editTexts } from '../../texts/edit';
import { filesTexts } from '../../texts/files';
import { versionsTexts } from '../../texts/versions';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { toast } from '../../ui/Toasts';
import { useFormError, type FieldProps } from '../../ui/useFormError';
import { useIsOpen } from '../../ui/useIsOpen';
import { createVersion, updateVersion, type ListedVersion } from './versionQueries';
import { invalidateVersions } from './invalidateVersions';

const words = versionsTexts;

/** Creates a version of an asset as it is now, or edits the comment and alias of one. */
export function VersionDialog(props: {
  place: Place;
  /** Null for a new one. */
  version: ListedVersion | null;
  onClose: () => void;
}) {
  const { place, version, onClose } = props;
  const cache = useQueryClient();
  const isOpen = useIsOpen();
  const before = { comment: version?.Comment ?? '', alias: version?.versionAlias ?? '' };
  const [draft, setDraft] = useState(before);
  const [state, setState] = useState({ busy: false, job: false });
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const save = async (): Promise<string> => {
    const comment = draft.comment.trim();
    const alias = draft.alias.trim();
    if (version) {
      await updateVersion(place, version.Version, {
        ...(comment !== before.comment && { comment }),
        ...(alias !== before.alias && { versionAlias: alias }),
      });
      return words.edited(version.Version);
    }
    const onJob = () => setState({ busy: true, job: true });
    const { id, skipped } = await createVersion(place, { comment, alias }, onJob);
    const rest = skipped.length ? ` ${words.skipped(skipped.length)}: ${skipped.join(', ')}` : '';
    return words.created(id) + rest;
  };
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    if (!draft.comment.trim()) {
      showError(words.needsComment, 'comment');
      return;
    }
    clearError();
    setState({ busy: true, job: false });
    try {
      toast(await save());
      if (isOpen.current) onClose();
    } catch (error) {
      setState({ busy: false, job: false });
      showApiError(error, { VersionAliasTaken: 'versionAlias' });
    }
    // Also after a failure: what is not known to be created may be.
    invalidateVersions(cache, place);
  };
  const isSame = version && draft.comment === before.comment && draft.alias === before.alias;
  return (
    <Dialog title={version ? words.editTitle(version.Version) : words.create} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <Fields draft={draft} fieldProps={fieldProps} onChange={setDraft} />
        {message}
        {state.job && <p role="status">{words.job}</p>}
        <div className="acts">
          <button type="submit" className="primary" disabled={state.busy || Boolean(isSame)}>
            {state.busy ? filesTexts.busy : version ? editTexts.save : words.createNow}
          </button>
          <CloseButton text={state.busy ? texts.close : texts.cancel} />
        </div>
      </form>
    </Dialog>
  );
}

interface Draft {
  comment: string;
  alias: string;
}

function Fields(props: { draft: Draft; fieldProps: FieldProps; onChange: (draft: Draft) => void }) {
  const { draft, fieldProps, onChange } = props;
  const id = useId();
  return (
    <>
      <label htmlFor={`${id}-comment`}>{words.comment}</label>
      <textarea
        id={`${id}-comment`}
        dir="auto"
        rows={3}
        maxLength={256}
        {...fieldProps('comment')}
        value={draft.comment}
        onChange={(event) => onChange({ ...draft, comment: event.target.value })}
      />
      <label htmlFor={`${id}-alias`}>{words.alias}</label>
      <input
        id={`${id}-alias`}
        dir="auto"
        maxLength={64}
        {...fieldProps('versionAlias', `${id}-help`)}
        value={draft.alias}
        onChange={(event) => onChange({ ...draft, alias: event.target.value })}
      />
      <p id={`${id}-help`} className="help">
        {words.aliasHelp}
      </p>
    </>
  );
}
