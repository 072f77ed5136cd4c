import { useQuery } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import { api, replyWithHeaders } from '../../api/client';
import { databasesQuery } from '../../api/queries';
import { recordWrite } from '../../api/writes';
import { uploadTexts } from '../../texts/upload';
import { AssetSelect, DatabaseSelect } from '../../ui/AssetSelect';
import { useFormError, type FieldProps } from '../../ui/useFormError';
import type { Place } from '../../api/downloads';
import type { LocalFile } from './localFiles';

interface Draft {
  kind: 'new' | 'existing';
  databaseId: string;
  /** Null until someone types one. */
  name: string | null;
  description: string;
  distributable: boolean;
  assetId: string;
}

/** A draft with its name: the one that was typed, else the suggested one. */
interface NamedDraft extends Draft {
  name: string;
}

export const firstDraft = (initial: { database?: string; asset?: string }): Draft => ({
  kind: initial.asset ? 'existing' : 'new',
  databaseId: initial.database ?? '',
  name: null,
  description: '',
  distributable: true,
  assetId: initial.asset ?? '',
});

/** Where the files go to; starts the upload. */
export function TargetForm(props: {
  files: LocalFile[];
  /** Why there are no files, if there are none. */
  noFiles: string;
  draft: NamedDraft;
  change: (next: Partial<Draft>) => void;
  onStart: (place: Place) => Promise<void>;
}) {
  const { files, noFiles, draft, change, onStart } = props;
  const id = useId();
  const databases = useQuery(databasesQuery);
  const [busy, setBusy] = useState(false);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const [lacksFiles, setLacksFiles] = useState(false);
  const { databaseId } = draft;
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const wrong = files.length ? validate(draft) : { text: noFiles, field: '' };
    setLacksFiles(!files.length);
    if (wrong) {
      showError(wrong.text, wrong.field);
      return;
    }
    clearError();
    setBusy(true);
    try {
      const place = await createOrFindAsset(draft);
      // Kept, so that a failure after this does not create a second asset.
      change({ kind: 'existing', databaseId, assetId: place.assetId });
      await onStart(place);
    } catch (error) {
      showApiError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="stack target" onSubmit={(event) => void submit(event)}>
      <h2>{uploadTexts.target}</h2>
      <div className="acts" role="radiogroup" aria-label={uploadTexts.target}>
        {(['new', 'existing'] as const).map((kind) => (
          <label key={kind} className="check">
            <input
              type="radio"
              name={`${id}-kind`}
              checked={draft.kind === kind}
              onChange={() => change({ kind })}
            />
            {kind === 'new' ? uploadTexts.newAsset : uploadTexts.existingAsset}
          </label>
        ))}
      </div>
      <DatabaseSelect
        value={databaseId}
        fieldProps={fieldProps('databaseId')}
        onChange={(id) => change({ databaseId: id, assetId: '' })}
      />
      {databases.data?.length === 0 && (
        <p className="help">
          {uploadTexts.noDatabase} {uploadTexts.createDatabase}{' '}
          <code>{uploadTexts.createDatabaseCommand}</code>
        </p>
      )}
      {draft.kind === 'new' ? (
        <NewAsset id={id} draft={draft} fieldProps={fieldProps} change={change} />
      ) : (
        <AssetSelect
          databaseId={databaseId}
          value={draft.assetId}
          fieldProps={fieldProps('assetId')}
          onChange={(assetId) => change({ assetId })}
        />
      )}
      {!(lacksFiles && files.length) && message}
      <button type="submit" className="primary" disabled={busy}>
        {busy ? uploadTexts.checking : uploadTexts.start(files.length)}
      </button>
    </form>
  );
}

interface NewAssetProps {
  id: string;
  draft: NamedDraft;
  fieldProps: FieldProps;
  change: (next: Partial<Draft>) => void;
}

function NewAsset({ id, draft, fieldProps, change }: NewAssetProps) {
  return (
    <>
      <label htmlFor={`${id}-name`}>{uploadTexts.assetName}</label>
      <input
        id={`${id}-name`}
        maxLength={255}
        {...fieldProps('assetName')}
        value={draft.name}
        onChange={(event) => change({ name: event.target.value })}
      />
      <label htmlFor={`${id}-description`}>{uploadTexts.description}</label>
      <input
        id={`${id}-description`}
        maxLength={256}
        {...fieldProps('description', `${id}-help`)}
        value={draft.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <p id={`${id}-help`} className="help">
        {uploadTexts.descriptionHelp}
      </p>
      <label className="check">
        <input
          type="checkbox"
          checked={draft.distributable}
          onChange={(event) => change({ distributable: event.target.checked })}
        />
        {uploadTexts.distributable}
      </label>
    </>
  );
}

function validate(draft: NamedDraft): { text: string; field: string } | null {
  const { required, database, asset, assetName, shortDescription } = uploadTexts;
  if (!draft.databaseId) return { text: required(database), field: 'databaseId' };
  if (draft.kind === 'existing') {
    return draft.assetId ? null : { text: required(asset), field: 'assetId' };
  }
  if (!draft.name.trim()) return { text: required(assetName), field: 'assetName' };
  const short = draft.description.trim().length < 4;
  return short ? { text: shortDescription, field: 'description' } : null;
}

async function createOrFindAsset(draft: NamedDraft): Promise<Place> {
  const { databaseId } = draft;
  if (draft.kind === 'existing') return { databaseId, assetId: draft.assetId };
  const response = await replyWithHeaders(
    api.POST('/assets', {
      body: {
        databaseId,
        assetName: draft.name.trim(),
        description: draft.description.trim(),
        isDistributable: draft.distributable,
      },
    }),
  );
  recordWrite(response.headers);
  return { databaseId, assetId: response.data.assetId };
}
