import { queryOptions } from '@tanstack/react-query';
import { api, reply, replyWithHeaders } from '../../api/client';
import type { Place } from '../../api/downloads';
import { pollJob, type Job } from '../../api/jobs';
import { pagesOf } from '../../api/pages';
import { recordWrite } from '../../api/writes';

const ROUTE = '/database/{databaseId}/assets/{assetId}';
const PAGE = 1000;

/** How many files are in a folder. Archived files stay where they are when it is moved. */
interface FolderContent {
  files: number;
  archived: number;
}

export async function fetchFolderContent(place: Place, folder: string): Promise<FolderContent> {
  const content = { files: 0, archived: 0 };
  const read = (startingToken?: string) => {
    const query = { prefix: folder, basic: true, includeArchived: true, pageSize: PAGE };
    const params = { path: place, query: { ...query, maxItems: PAGE, startingToken } };
    return reply(api.GET(`${ROUTE}/listFiles`, { params }));
  };
  for await (const page of pagesOf(read)) {
    for (const { isFolder, isArchived } of page.items) {
      if (!isFolder) content[isArchived ? 'archived' : 'files'] += 1;
    }
  }
  return content;
}

export const folderContentQuery = (place: Place, folder: string) =>
  queryOptions({
    queryKey: ['files', place.databaseId, place.assetId, 'folder', folder],
    queryFn: () => fetchFolderContent(place, folder),
    staleTime: 0,
  });

/**
 * Moves a folder; both paths end in `/`. Calls `onJob` with each state of the job that moves its
 * files, and returns it when it has ended. Its problems are the files that it could not move.
 */
export async function moveFolder(
  place: Place,
  sourcePath: string,
  destinationPath: string,
  onJob: (job: Job) => void,
): Promise<Job> {
  const request = api.POST(`${ROUTE}/moveFolder`, {
    params: { path: { databaseId: place.databaseId, assetId: place.assetId } },
    body: { sourcePath, destinationPath },
  });
  const { data, headers } = await replyWithHeaders(request);
  try {
    return await pollJob(data.jobId ?? '', { onJob });
  } finally {
    recordWrite(headers);
  }
}

/** Stops the move of a folder. Files that were moved remain at their new place. */
export async function cancelMove(jobId: string): Promise<void> {
  await reply(api.POST('/jobs/{jobId}/cancel', { params: { path: { jobId } } }));
}
