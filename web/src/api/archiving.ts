import { api, replyWithHeaders } from './client';
import { ended } from './jobs';
import { wrote } from './writes';

interface Place {
  databaseId: string;
  assetId: string;
}

/** Archives an asset, which is complete when the promise is kept. */
export async function archiveAsset({ databaseId, assetId }: Place): Promise<void> {
  const written = await replyWithHeaders(
    api.DELETE('/database/{databaseId}/assets/{assetId}/archiveAsset', {
      params: { path: { databaseId, assetId } },
      body: { confirmArchive: true },
    }),
  );
  await completed(written);
}

/** Restores an archived asset with its files, which is complete when the promise is kept. */
export async function restoreAsset({ databaseId, assetId }: Place): Promise<void> {
  const written = await replyWithHeaders(
    api.PUT('/database/{databaseId}/assets/{assetId}/unarchiveAsset', {
      params: { path: { databaseId, assetId } },
      body: { confirmUnarchive: true },
    }),
  );
  await completed(written);
}

/** Waits for the end of the job, which outlasts the request on a busy server. */
async function completed(written: {
  data: { jobId: string; jobState: string };
  headers: Headers;
}): Promise<void> {
  const { data, headers } = written;
  try {
    if (data.jobState !== 'done') await ended(data.jobId);
  } finally {
    // Searches with the token wait for what is stored by then, also by the job.
    wrote(headers);
  }
}
