import { queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import { isTransient, errorText } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import type { components } from '../../api/schema';
import { texts } from '../../texts';
import { selectionTexts } from '../../texts/selection';
import { assetTexts } from '../../texts/asset';
import { fileExtension } from '../../ui/fileKinds';
import { readAsset } from '../../api/assets';
import type { Card } from '../../api/hits';

type FileItem = components['schemas']['FileItem'];

/** What a download or a run needs to know of an asset. */
export type AssetCard = Pick<Card, 'id' | 'databaseId' | 'assetId' | 'name'>;

/** As many files as one download takes, or as many runs as start at once. */
export const MOST_FILES = 500;

/** What a download may have. */
export interface Limits {
  files: number;
  bytes: number;
}
/** The browser holds a whole file that the page makes, in memory or on disk. */
export const IN_MEMORY: Limits = { files: MOST_FILES, bytes: 1_000_000_000 };
/** Files that are listed before the first is sent. */
export const STREAMED: Limits = { files: 10_000, bytes: Infinity };
const PAGE = 500;
const AT_ONCE = 6;

/** A file of a selected asset; without a path the asset as a whole. */
export interface Target {
  card: AssetCard;
  path: string | null;
  size: number;
  /** When its content was stored. */
  changedAt?: string | null;
}

/** What is left out, and why. */
export interface LeftOut {
  name: string;
  reason: string;
  /** Another try may succeed. */
  again?: boolean;
}

export interface Plan {
  targets: Target[];
  leftOut: LeftOut[];
}

/** The files of an asset, and the reasons why none of them can be used. */
export interface Listed {
  card: AssetCard;
  files: FileItem[];
  reason: string;
  distributable: boolean;
}

/** The files of assets; of one of them those in a folder, if there is one, whose path ends in `/`. */
export const selectedFilesQuery = (
  cards: readonly AssetCard[],
  folder?: string,
  most = MOST_FILES,
) =>
  queryOptions({
    queryKey: ['selected files', cards.map((card) => card.id), folder ?? null, most],
    queryFn: async () => {
      const assets: Listed[] = [];
      for (let at = 0; at < cards.length; at += AT_ONCE)
        assets.push(
          ...(await Promise.all(
            cards.slice(at, at + AT_ONCE).map((card) => listAsset(card, folder, most)),
          )),
        );
      return assets;
    },
    // Files may have been changed when the dialog is opened again.
    staleTime: 0,
    gcTime: 0,
  });

async function listAsset(
  card: AssetCard,
  folder: string | undefined,
  most: number,
): Promise<Listed> {
  const place = { databaseId: card.databaseId, assetId: card.assetId };
  const none = { card, files: [], distributable: true };
  try {
    const asset = await readAsset(place);
    if (asset.status === 'archived') return { ...none, reason: assetTexts.archived };
    const distributable = asset.isDistributable;
    return { card, files: await fetchFiles(place, folder, most), distributable, reason: '' };
  } catch (error) {
    if (isTransient(error)) throw error;
    return { ...none, reason: errorText(error) };
  }
}

async function fetchFiles(
  path: { databaseId: string; assetId: string },
  prefix: string | undefined,
  most: number,
): Promise<FileItem[]> {
  const files: FileItem[] = [];
  const read = (startingToken?: string) => {
    const query = { prefix, basic: true, includeArchived: true, pageSize: PAGE, startingToken };
    return reply(
      api.GET('/database/{databaseId}/assets/{assetId}/listFiles', { params: { path, query } }),
    );
  };
  for await (const page of pagesOf(read)) {
    files.push(...page.items.filter((file) => !file.isFolder));
    if (files.length > most) break;
  }
  return files;
}

/** The files to download, in their order; those that would exceed a limit are left out. */
export function downloadPlan(assets: readonly Listed[], limits = IN_MEMORY): Plan {
  const plan = filesPlan(
    assets.map((asset) =>
      asset.distributable
        ? asset
        : { ...asset, reason: asset.reason || texts.picture.notDistributable },
    ),
    [],
    limits.files,
  );
  let bytes = 0;
  const within: Target[] = [];
  for (const target of plan.targets) {
    if (bytes + target.size <= limits.bytes) {
      bytes += target.size;
      within.push(target);
    } else plan.leftOut.push({ name: targetName(target), reason: selectionTexts.overSize });
  }
  return { ...plan, targets: within };
}

/** The files to run a workflow on: those of its own database, or of any for a GLOBAL one. */
export function runPlan(assets: readonly Listed[], workflow: Workflow, whole: boolean): Plan {
  const { databaseId, extensions } = workflow;
  const usable = assets.map((asset) =>
    databaseId === GLOBAL || databaseId === asset.card.databaseId
      ? asset
      : { ...asset, reason: selectionTexts.otherDatabase(databaseId) },
  );
  if (!whole) return filesPlan(usable, extensions);
  const plan: Plan = { targets: [], leftOut: [] };
  for (const asset of usable) {
    const reason = asset.reason || overCount(plan.targets.length);
    if (reason) plan.leftOut.push(goneOf({ ...asset, reason }));
    else plan.targets.push({ card: asset.card, path: null, size: 0 });
  }
  return plan;
}

export const GLOBAL = 'GLOBAL';
const ALL = '.all';

export interface Workflow {
  workflowId: string;
  databaseId: string;
  description: string;
  /** Those of the files that it is for; none for any file. */
  extensions: string[];
}

export function toWorkflow(item: components['schemas']['WorkflowItem']): Workflow {
  const extensions = item.autoTriggerOnFileExtensionsUpload.split(',').filter(Boolean);
  return { ...item, extensions: extensions.includes(ALL) ? [] : extensions };
}

function filesPlan(
  assets: readonly Listed[],
  extensions: readonly string[] = [],
  most = MOST_FILES,
): Plan {
  const plan: Plan = { targets: [], leftOut: [] };
  for (const asset of assets) {
    if (asset.reason) plan.leftOut.push(goneOf(asset));
    for (const file of asset.reason ? [] : asset.files) {
      const target = {
        card: asset.card,
        path: file.relativePath,
        size: file.size ?? 0,
        changedAt: file.dateCreatedCurrentVersion,
      };
      const suits = !extensions.length || extensions.includes(`.${fileExtension(target.path)}`);
      if (!suits) continue;
      const reason = leftOutReason(file, plan.targets.length, most);
      if (reason) plan.leftOut.push({ name: targetName(target), reason });
      else plan.targets.push(target);
    }
  }
  return plan;
}

function leftOutReason(file: FileItem, before: number, most: number): string {
  if (file.isArchived) return selectionTexts.archivedFile;
  if (file.isQuarantined) return texts.picture.quarantined;
  return overCount(before, most);
}

const overCount = (before: number, most = MOST_FILES): string =>
  before >= most ? selectionTexts.overCount(most) : '';

const goneOf = ({ card, reason }: Listed): LeftOut => ({ name: card.name, reason: reason });

export const targetName = ({ card, path }: Target): string => card.name + (path ?? '');
