import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState, type SyntheticEvent } from 'react';
import { bucketsQuery, createDatabase } from '../../api/databases';
import { databasesQuery } from '../../api/queries';
import { databasesTexts } from '../../texts/databases';
import { DatabaseFields, validateDatabase } from '../../ui/DatabaseFields';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { InlineError } from '../../ui/InlineError';
import { toast } from '../../ui/Toasts';
import { useFormError } from '../../ui/useFormError';
import { useIsOpen } from '../../ui/useIsOpen';

const words = databasesTexts;

/** Creates a database and opens it. */
export function NewDatabaseDialog({ onClose }: { onClose: () => void }) {
  const id = useId();
  const cache = useQueryClient();
  const navigate = useNavigate();
  const isOpen = useIsOpen();
  const buckets = useQuery(bucketsQuery);
  const [draft, setDraft] = useState({ name: '', description: '', bucketId: '' });
  const [busy, setBusy] = useState(false);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const wrong = validateDatabase(draft);
    if (wrong) {
      showError(wrong.text, wrong.field);
      return;
    }
    clearError();
    setBusy(true);
    try {
      const databaseId = await createDatabase(draft);
      void cache.invalidateQueries(databasesQuery);
      toast(words.created(databaseId));
      if (isOpen.current) await navigate({ to: '/databases/$databaseId', params: { databaseId } });
    } catch (error) {
      setBusy(false);
      showApiError(error, {
        description: 'databaseText',
        DatabaseExists: 'databaseId',
        defaultBucketId: 'bucketId',
      });
    }
  };
  return (
    <Dialog title={words.create} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <DatabaseFields id={id} draft={draft} fieldProps={fieldProps} onChange={setDraft} />
        <InlineError query={buckets} />
        {buckets.data && buckets.data.length > 1 && (
          <>
            <label htmlFor={`${id}-bucket`}>{words.bucket}</label>
            <select
              id={`${id}-bucket`}
              {...fieldProps('bucketId')}
              value={draft.bucketId}
              onChange={(event) => setDraft({ ...draft, bucketId: event.target.value })}
            >
              {buckets.data.map(({ bucketId, bucketName, baseAssetsPrefix }) => (
                <option key={bucketId} value={bucketId}>
                  {words.bucketName(bucketName, baseAssetsPrefix)}
                </option>
              ))}
            </select>
          </>
        )}
        {message}
        <div className="acts">
          <button type="submit" className="primary" disabled={busy}>
            {words.createNow}
          </button>
          <CloseButton />
        </div>
      </form>
    </Dialog>
  );
}
