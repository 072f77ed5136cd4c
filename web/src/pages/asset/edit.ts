import { api, replyWithHeaders } from '../../api/client';
import { ApiError } from '../../api/errors';
import { wrote } from '../../api/writes';
import type { Place } from '../../viewer/sources';
import { readAsset, type Asset } from './queries';

export interface Draft {
  assetName: string;
  description: string;
  tags: string[];
}
export type Field = keyof Draft;
const FIELDS = ['assetName', 'description', 'tags'] as const;

export const draftOf = ({ assetName, description, tags }: Draft): Draft => ({
  assetName,
  description,
  tags: [...tags],
});

const text = (value: string | string[]): string =>
  typeof value === 'string' ? value.trim() : JSON.stringify([...value].sort());
const differs = (field: Field, one: Draft, other: Draft): boolean =>
  text(one[field]) !== text(other[field]);

/** The fields in which a draft differs from what is stored. */
export const changedFields = (draft: Draft, stored: Draft): Field[] =>
  FIELDS.filter((field) => differs(field, draft, stored));

export interface Merged {
  draft: Draft;
  /** Fields that both have changed: the draft has the user's value, `theirs` the stored one. */
  conflicts: Field[];
}

/** Takes what others changed, except in fields that the user has changed, too. */
export function merged(draft: Draft, before: Draft, theirs: Draft): Merged {
  const mine = changedFields(draft, before);
  const next = { ...draftOf(theirs), ...pick(draft, mine) };
  const conflicts = mine.filter(
    (field) => differs(field, before, theirs) && differs(field, draft, theirs),
  );
  return { draft: next, conflicts };
}

function pick(draft: Draft, fields: Field[]): Partial<Draft> {
  return Object.fromEntries(fields.map((field) => [field, draft[field]]));
}

export type Saved = { saved: Asset } | { theirs: Asset };

const CHANGED = 412;
const TRIES = 3;

/** Writes the changed fields, unless somebody has changed the asset since it was read. */
export async function save(
  place: Place,
  stored: Asset,
  draft: Draft,
  tries = TRIES,
): Promise<Saved> {
  const body = pick(
    { ...draft, assetName: draft.assetName.trim(), description: draft.description.trim() },
    changedFields(draft, stored),
  );
  try {
    const written = await replyWithHeaders(
      api.PUT('/database/{databaseId}/assets/{assetId}', {
        params: { path: place, header: stored.etag ? { 'If-Match': stored.etag } : {} },
        body,
      }),
    );
    wrote(written.headers);
    return { saved: { ...stored, ...body, etag: written.headers.get('etag') } };
  } catch (error) {
    if (!(error instanceof ApiError) || ![CHANGED, 409].includes(error.status)) throw error;
    const theirs = await readAsset(place);
    // A conflict with something else than a change of this asset, as with a name that is taken.
    if (theirs.etag === stored.etag) throw error;
    // Nothing that people write: after an upload, the server notes the type of the asset.
    if (tries > 1 && !changedFields(theirs, stored).length) {
      return save(place, theirs, draft, tries - 1);
    }
    return { theirs };
  }
}
