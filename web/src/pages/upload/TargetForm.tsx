import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import { api, replyWithHeaders } from '../../api/client';
import { createDatabase, type NewDatabase } from '../../api/databases';
import { databasesQuery } from '../../api/queries';
import { recordWrite } from '../../api/writes';
import { uploadTexts } from '../../texts/upload';
import { AssetSelect, DatabaseSelect } from '../../ui/AssetSelect';
import { DatabaseFields, validateDatabase } from '../../ui/DatabaseFields';
import { useFormError, type FieldProps } from '../../ui/useFormError';
import type { Place } from '../../api/downloads';
import type { LocalFile } from './localFiles';

interface Draft {
  kind: 'new' | 'existing';
  databaseId: string;
  /** Of a database that is created with its first asset. */
  database: NewDatabase;
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
  database: {
    name: uploadTexts.firstDatabase,
    description: uploadTexts.databaseDescription,
    bucketId: '',
  },
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
      const id = isNew ? await createDatabase(draft.database) : databaseId;
      const target = { ...draft, databaseId: id };
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
      {isNew && (
        <DatabaseFields
          id={id}
          draft={draft.database}
          fieldProps={fieldProps}
          onChange={(database) => change({ database })}
        />
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
  const wrong = draft.databaseId === NEW_DATABASE ? validateDatabase(draft.database) : null;
  if (wrong) return wrong;
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
