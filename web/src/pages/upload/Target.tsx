import { useQuery } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import { api, reply, replyWithHeaders } from '../../api/client';
import { sentence } from '../../api/errors';
import { databases } from '../../api/queries';
import { wrote } from '../../api/writes';
import { texts } from '../../texts';
import { AssetChoice, DatabaseChoice } from '../../ui/Choices';
import type { Place } from '../../viewer/sources';
import { suggestedName, type Chosen } from './chosen';
import { Run } from './run';

interface Draft {
  kind: 'new' | 'existing';
  databaseId: string;
  /** Null until somebody types one. */
  name: string | null;
  description: string;
  distributable: boolean;
  assetId: string;
}

/** Where the files go to; starts the upload. */
export function Target(props: {
  files: Chosen[];
  given: { database?: string; asset?: string };
  onStart: (run: Run, place: Place) => void;
}) {
  const { files, given, onStart } = props;
  const id = useId();
  const known = useQuery(databases);
  const [typed, setDraft] = useState<Draft>({
    kind: given.asset ? 'existing' : 'new',
    databaseId: given.database ?? '',
    name: null,
    description: '',
    distributable: true,
    assetId: given.asset ?? '',
  });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState('');
  const draft = { ...typed, name: typed.name ?? suggestedName(files) };
  const change = (next: Partial<Draft>) => setDraft({ ...typed, ...next });
  const only = known.data?.length === 1 ? known.data[0]?.databaseId : undefined;
  const databaseId = draft.databaseId || (only ?? '');
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const refused = refusal({ ...draft, databaseId }, files);
    setFailure(refused);
    if (refused) return;
    setBusy(true);
    try {
      const place = await placeOf({ ...draft, databaseId });
      // Kept, so that a failure after this does not create a second asset.
      change({ kind: 'existing', databaseId, assetId: place.assetId });
      onStart(new Run(place, files, await sizesIn(place)), place);
    } catch (error) {
      setFailure(sentence(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="stack target" onSubmit={(event) => void submit(event)}>
      <h2>{texts.upload.target}</h2>
      <div className="acts" role="radiogroup" aria-label={texts.upload.target}>
        {(['new', 'existing'] as const).map((kind) => (
          <label key={kind} className="check">
            <input
              type="radio"
              name={`${id}-kind`}
              checked={draft.kind === kind}
              onChange={() => change({ kind })}
            />
            {kind === 'new' ? texts.upload.newAsset : texts.upload.existingAsset}
          </label>
        ))}
      </div>
      <DatabaseChoice
        value={databaseId}
        onChange={(chosen) => change({ databaseId: chosen, assetId: '' })}
      />
      {known.data?.length === 0 && (
        <p className="help">
          {texts.upload.noDatabase} <code>{texts.upload.createDatabase}</code>
        </p>
      )}
      {draft.kind === 'new' ? (
        <NewAsset id={id} draft={draft} change={change} />
      ) : (
        <AssetChoice
          databaseId={databaseId}
          value={draft.assetId}
          onChange={(assetId) => change({ assetId })}
        />
      )}
      <p role="alert" className="failure">
        {failure}
      </p>
      <button type="submit" className="primary" disabled={busy}>
        {busy ? texts.upload.checking : texts.upload.start(files.length)}
      </button>
    </form>
  );
}

type Named = Draft & { name: string };

interface Part {
  id: string;
  draft: Named;
  change: (next: Partial<Draft>) => void;
}

function NewAsset({ id, draft, change }: Part) {
  return (
    <>
      <label htmlFor={`${id}-name`}>{texts.upload.assetName}</label>
      <input
        id={`${id}-name`}
        maxLength={255}
        value={draft.name}
        onChange={(event) => change({ name: event.target.value })}
      />
      <label htmlFor={`${id}-description`}>{texts.upload.description}</label>
      <input
        id={`${id}-description`}
        maxLength={256}
        aria-describedby={`${id}-help`}
        value={draft.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <p id={`${id}-help`} className="help">
        {texts.upload.descriptionHelp}
      </p>
      <label className="check">
        <input
          type="checkbox"
          checked={draft.distributable}
          onChange={(event) => change({ distributable: event.target.checked })}
        />
        {texts.upload.distributable}
      </label>
    </>
  );
}

function refusal(draft: Named, files: Chosen[]): string {
  if (!files.length) return texts.upload.needFiles;
  if (!draft.databaseId) return texts.upload.required(texts.upload.database);
  if (draft.kind === 'existing') {
    return draft.assetId ? '' : texts.upload.required(texts.upload.asset);
  }
  if (!draft.name.trim()) return texts.upload.required(texts.upload.assetName);
  return draft.description.trim().length < 4 ? texts.upload.shortDescription : '';
}

async function placeOf(draft: Named): Promise<Place> {
  const { databaseId } = draft;
  if (draft.kind === 'existing') return { databaseId, assetId: draft.assetId };
  const made = await replyWithHeaders(
    api.POST('/assets', {
      body: {
        databaseId,
        assetName: draft.name.trim(),
        description: draft.description.trim(),
        isDistributable: draft.distributable,
      },
    }),
  );
  wrote(made.headers);
  return { databaseId, assetId: made.data.assetId };
}

/** The sizes of the files that the asset has, by path. */
async function sizesIn(place: Place): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  let startingToken: string | undefined;
  do {
    const page = await reply(
      api.GET('/database/{databaseId}/assets/{assetId}/listFiles', {
        params: { path: place, query: { basic: true, pageSize: 1000, startingToken } },
      }),
    );
    for (const each of page.items) {
      if (each.size != null) sizes.set(`/${each.relativePath.replace(/^\/+/, '')}`, each.size);
    }
    startingToken = page.NextToken ?? undefined;
  } while (startingToken);
  return sizes;
}
