import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import { api, reply, replyWithHeaders } from '../../api/client';
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
  /** Of a database that is created with its first asset. */
  database: { name: string; description: string };
  /** Null until someone types one. */
  name: string | null;
  description: string | null;
  distributable: boolean;
  assetId: string;
}

/** A draft with the name and description that were typed, else the suggested ones. */
interface NamedDraft extends Draft {
  name: string;
  description: string;
}

/** Instead of the id of a database: none has a name of this form. */
export const NEW_DATABASE = '+';

export const firstDraft = (initial: { database?: string; asset?: string }): Draft => ({
  kind: initial.asset ? 'existing' : 'new',
  databaseId: initial.database ?? '',
  database: { name: uploadTexts.firstDatabase, description: uploadTexts.databaseDescription },
  name: null,
  description: null,
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
  const { databaseId } = draft;
  const id = useId();
  const cache = useQueryClient();
  const databases = useQuery(databasesQuery);
  const isNew = databaseId === NEW_DATABASE;
  const [busy, setBusy] = useState(false);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const [lacksFiles, setLacksFiles] = useState(false);
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
      const target = { ...draft, databaseId: await createOrFindDatabase(draft) };
      // Kept, so that a failure after this creates no second database, and no second asset.
      change({ databaseId: target.databaseId });
      void cache.invalidateQueries(databasesQuery);
      const place = await createOrFindAsset(target);
      change({ kind: 'existing', assetId: place.assetId });
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
      <KindChoice id={id} kind={draft.kind} onChange={(kind) => change({ kind })} />
      {databases.data?.length !== 0 && (
        <DatabaseSelect
          value={databaseId}
          fieldProps={isNew ? undefined : fieldProps('databaseId')}
          created={{ value: NEW_DATABASE, name: uploadTexts.newDatabase }}
          onChange={(id) => change({ databaseId: id, assetId: '' })}
        />
      )}
      {isNew && <NewDatabase id={id} draft={draft} fieldProps={fieldProps} change={change} />}
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

function KindChoice(props: {
  id: string;
  kind: Draft['kind'];
  onChange: (kind: Draft['kind']) => void;
}) {
  return (
    <div className="acts" role="radiogroup" aria-label={uploadTexts.target}>
      {(['new', 'existing'] as const).map((kind) => (
        <label key={kind} className="check">
          <input
            type="radio"
            name={`${props.id}-kind`}
            checked={props.kind === kind}
            onChange={() => props.onChange(kind)}
          />
          {kind === 'new' ? uploadTexts.newAsset : uploadTexts.existingAsset}
        </label>
      ))}
    </div>
  );
}

/** The name and description of a database that is created when the upload starts. */
function NewDatabase({ id, draft: { database }, fieldProps, change }: NewAssetProps) {
  return (
    <>
      <label htmlFor={`${id}-database`}>{uploadTexts.databaseName}</label>
      <input
        id={`${id}-database`}
        maxLength={63}
        {...fieldProps('databaseId', `${id}-database-help`)}
        value={database.name}
        onChange={(event) => change({ database: { ...database, name: event.target.value } })}
      />
      <p id={`${id}-database-help`} className="help">
        {uploadTexts.databaseNameHelp}
      </p>
      <label htmlFor={`${id}-database-text`}>{uploadTexts.databaseText}</label>
      <input
        id={`${id}-database-text`}
        maxLength={256}
        {...fieldProps('databaseText')}
        value={database.description}
        onChange={(event) => change({ database: { ...database, description: event.target.value } })}
      />
    </>
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

const DATABASE_NAME = /^[-_a-zA-Z0-9]{3,63}$/;

function validate(draft: NamedDraft): { text: string; field: string } | null {
  const { required, database, asset, assetName, shortDescription } = uploadTexts;
  if (!draft.databaseId) return { text: required(database), field: 'databaseId' };
  if (draft.databaseId === NEW_DATABASE) {
    if (!DATABASE_NAME.test(draft.database.name))
      return { text: uploadTexts.databaseNameHelp, field: 'databaseId' };
    if (draft.database.description.trim().length < 4)
      return { text: shortDescription, field: 'databaseText' };
  }
  if (draft.kind === 'existing') {
    return draft.assetId ? null : { text: required(asset), field: 'assetId' };
  }
  if (!draft.name.trim()) return { text: required(assetName), field: 'assetName' };
  const short = draft.description.trim().length < 4;
  return short ? { text: shortDescription, field: 'description' } : null;
}

/** Returns the id of the chosen database, or of a new one in the first bucket of assets. */
async function createOrFindDatabase({ databaseId, database }: NamedDraft): Promise<string> {
  if (databaseId !== NEW_DATABASE) return databaseId;
  const { Items } = await reply(api.GET('/buckets', {}));
  await reply(
    api.POST('/database', {
      body: {
        databaseId: database.name,
        description: database.description.trim(),
        defaultBucketId: Items[0]?.bucketId ?? '',
      },
    }),
  );
  return database.name;
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
