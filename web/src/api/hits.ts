import type { components } from './schema';
import type { PictureSource } from './pictures';

export interface Hit extends Omit<components['schemas']['SearchHit'], 'files'>, PictureSource {
  files?: Hit[];
}

/** Models whose textures or geometry are in files beside them: their own size says little. */
const IN_SEVERAL_FILES = new Set(['.gltf', '.obj', '.dae', '.3ds', '.x3d', '.wrl']);

/** The picture of an asset that the server made: that of its primary or largest file. */
const GENERATED = /\/generated\/preview\.png$/;

/** An asset as the grid shows it. */
export interface Card {
  id: string;
  databaseId: string;
  assetId: string;
  name: string;
  type: string;
  /** Of the file that is shown, unless most of its content may be in others. */
  size: number | null;
  /** How many it has; null if they are not counted. */
  files: number | null;
  tags: string[];
  changed: string;
  description: string;
  isArchived: boolean;
  /** The file that matched best, as a path in the asset. */
  file: string | null;
  picture: PictureSource;
  /** Of the asset, and the facts of each of its best files, where columns show them. */
  metadata: Record<string, string>;
  facts: Record<string, string>[];
}

/** The fields of documents that a card is made of: others would be most of a reply. */
export const SOURCE_FIELDS = [
  'bool_archived',
  'date_asset_version_createdate',
  'date_lastmodified',
  'list_tags',
  'num_filesize',
  'str_assetid',
  'str_assetname',
  'str_assettype',
  'str_databaseid',
  'str_description',
  'str_fileext',
  'str_key',
  'str_previewfilekey',
];

export function toCard(hit: Hit): Card {
  const source = hit._source;
  const files = hit.files ?? [];
  // Of the best hits the first with something to look at.
  const best = files.find((file) => file.preview ?? file._source.str_previewfilekey);
  return {
    id: hit._id,
    databaseId: text(source.str_databaseid),
    assetId: text(source.str_assetid),
    name: text(source.str_assetname) || text(source.str_assetid),
    type: (text(best?._source.str_fileext) || text(source.str_assettype)).replace(/^\./, ''),
    size: best ? sizeOf(best) : null,
    files: hit.fileCount ?? null,
    tags: Array.isArray(source.list_tags) ? source.list_tags.filter(isText) : [],
    changed: text(source.date_asset_version_createdate) || text(best?._source.date_lastmodified),
    description: text(source.str_description),
    isArchived: source.bool_archived === true,
    file: best ? assetPath(text(best._source.str_key), text(source.str_assetid)) : null,
    picture: hitPicture(
      // The file that is named, unless a user chose the picture of the asset.
      best && GENERATED.test(text(source.str_previewfilekey))
        ? [best, hit, ...files]
        : [hit, ...files],
      text(source.str_databaseid),
      text(source.str_assetid),
    ),
    metadata: values(source.MD_),
    facts: files.map((file) => values(file._source.AB_)),
  };
}

function sizeOf({ _source: { num_filesize: size, str_fileext: extension } }: Hit): number | null {
  return typeof size === 'number' && !IN_SEVERAL_FILES.has(text(extension)) ? size : null;
}

/** The first picture of an asset and its files; else the reason of the first that has one. */
function hitPicture(hits: Hit[], databaseId: string, assetId: string): PictureSource {
  const shown = hits.find((hit) => hit.preview);
  if (shown) return { preview: shown.preview };
  // Indexes of an earlier mapping version have the key of a preview, and no address.
  const pictured = hits.find((hit) => text(hit._source.str_previewfilekey));
  if (pictured && !hits.some((hit) => hit.previewMissing)) {
    const own = pictured._index_type === 'asset';
    const path = own ? null : assetPath(text(pictured._source.str_previewfilekey), assetId);
    return { file: { databaseId, assetId, path } };
  }
  // An archived file says nothing about its asset.
  const own = hits.filter((hit) => hit._index_type === 'asset' || !isArchivedFile(hit));
  const reasons = own.flatMap((hit) => (hit.previewMissing ? [hit.previewMissing] : []));
  return {
    previewMissing: reasons.find((reason) => reason.reason !== 'none') ?? reasons[0] ?? null,
  };
}

const isArchivedFile = (hit: Hit): boolean => hit.previewMissing?.reason === 'archived';

/** The path of a key in its asset: keys begin with the bucket's prefix and the asset's id. */
export function assetPath(key: string, assetId: string): string {
  const at = `/${key}`.indexOf(`/${assetId}/`);
  return at < 0 ? `/${key}` : `/${key}`.slice(at + assetId.length + 1);
}

const values = (field: unknown) => (field ?? {}) as Record<string, string>;
const isText = (value: unknown): value is string => typeof value === 'string';
const text = (value: unknown): string => (isText(value) ? value : '');
