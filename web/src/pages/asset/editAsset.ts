import { api, replyWithHeaders } from '../../api/client';
import { ApiError } from '../../api/errors';
import { recordWrite } from '../../api/writes';
import type { Place } from '../../api/downloads';
import { readAsset, type Asset } from '../../api/assets';

export interface Draft {
  assetName: string;
  description: string;
  tags: string[];
}
export type Field = keyof Draft;
const FIELDS = ['assetName', 'description', 'tags'] as const;

export const toDraft = ({ assetName, description, tags }: Draft): Draft => ({
  assetName,
  description,
  tags: [...tags],
});

const text = (value: string | string[]): string =>
  typeof value === 'string' ? value.trim() : JSON.stringify([...value].sort());
const isDifferent = (field: Field, draft: Draft, other: Draft): boolean =>
  text(draft[field]) !== text(other[field]);

/** The fields in which a draft differs from what is stored. */
export const changedFields = (draft: Draft, stored: Draft): Field[] =>
  FIELDS.filter((field) => isDifferent(field, draft, stored));

interface MergedDraft {
  draft: Draft;
  /** Fields that both have changed: the draft has the user's value, `theirs` the stored one. */
  conflicts: Field[];
}

/** Takes what others changed, except in fields that the user has changed, too. */
export function mergeDraft(draft: Draft, before: Draft, theirs: Draft): MergedDraft {
  const mine = changedFields(draft, before);
  const next = { ...toDraft(theirs), ...pick(draft, mine) };
  const conflicts = mine.filter(
    (field) => isDifferent(field, before, theirs) && isDifferent(field, draft, theirs),
  );
  return { draft: next, conflicts };
}

function pick(draft: Draft, fields: Field[]): Partial<Draft> {
  return Object.fromEntries(fields.map((field) => [field, draft[field]]));
}

type SaveResult<T = Asset> = { saved: T } | { theirs: T };

const CHANGED = 412;
const TRIES = 3;

/** Writes the changed fields, unless someone has changed the asset since it was read. */
export function saveAsset(place: Place, stored: Asset, draft: Draft): Promise<SaveResult> {
  const trimmed = { assetName: draft.assetName.trim(), description: draft.description.trim() };
  return writeUnlessChanged(
    stored,
    async (header, before) => {
      const body = pick({ ...draft, ...trimmed }, changedFields(draft, before));
      const written = await replyWithHeaders(
        api.PUT('/database/{databaseId}/assets/{assetId}', {
          params: { path: place, header },
          body,
        }),
      );
      recordWrite(written.headers);
      return { ...body, etag: written.headers.get('etag') };
    },
    () => readAsset(place),
    (a, b) => changedFields(a, b).length > 0,
  );
}

/**
 * Writes under the version that was read. Returns what someone else has written meanwhile instead,
 * if it differs in what people write.
 */
export async function writeUnlessChanged<T extends { etag: string | null }>(
  stored: T,
  write: (header: { 'If-Match'?: string }, stored: T) => Promise<Partial<T>>,
  read: () => Promise<T>,
  differ: (a: T, b: T) => boolean,
  tries = TRIES,
): Promise<SaveResult<T>> {
  try {
    const written = await write(stored.etag ? { 'If-Match': stored.etag } : {}, stored);
    return { saved: { ...stored, ...written } };
  } catch (error) {
    if (!(error instanceof ApiError) || ![CHANGED, 409].includes(error.status)) throw error;
    const theirs = await read();
    // A conflict with something else than a change of this, as with a name that is taken.
    if (theirs.etag === stored.etag) throw error;
    // Nothing that people write: after an upload, the server notes the type of the asset.
    if (tries > 1 && !differ(theirs, stored)) {
      return writeUnlessChanged(theirs, write, read, differ, tries - 1);
    }
    return { theirs };
  }
}
