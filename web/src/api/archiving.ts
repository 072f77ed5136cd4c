import { api, replyWithHeaders } from './client';
import { waitForWrite } from './jobs';

interface Place {
  databaseId: string;
  assetId: string;
}

/** Archives an asset, which is complete when the promise is kept. */
export async function archiveAsset({ databaseId, assetId }: Place): Promise<void> {
  const { data, headers } = await replyWithHeaders(
    api.DELETE('/database/{databaseId}/assets/{assetId}/archiveAsset', {
      params: { path: { databaseId, assetId } },
      body: { confirmArchive: true },
    }),
  );
  await waitForWrite(headers, data.jobState === 'done' ? undefined : data.jobId);
}

/** Restores an archived asset with its files, which is complete when the promise is kept. */
export async function restoreAsset({ databaseId, assetId }: Place): Promise<void> {
  const { data, headers } = await replyWithHeaders(
    api.PUT('/database/{databaseId}/assets/{assetId}/unarchiveAsset', {
      params: { path: { databaseId, assetId } },
      body: { confirmUnarchive: true },
    }),
  );
  await waitForWrite(headers, data.jobState === 'done' ? undefined : data.jobId);
}
