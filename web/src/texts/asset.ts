import { pluralize } from './formats';

export const assetTexts = {
  where: 'Where this asset is',
  hits: 'Results',
  files: 'Files',
  noFiles: 'This asset has no files yet.',
  facts: 'Facts',
  metadata: 'Metadata',
  noFacts: 'No facts are known about this file.',
  inspecting: 'The file is still being inspected. What is found is shown here by itself.',
  database: 'Database',
  version: 'Version',
  changed: 'Files changed',
  tags: 'Tags',
  noTags: 'No tags',
  archive: 'Archive the asset',
  archived: 'This asset is archived.',
  gone: 'This asset does not exist, or you may not see it.',
  moreFiles: 'Load more files',
  filterFiles: 'Filter files',
  noneOfFiles: 'No file matches.',
  ofLoaded: (files: number) =>
    `Only the ${pluralize(files, 'file that is', 'files that are')} loaded so far.`,
  lacking: (files: number) => pluralize(files, 'missing file', 'missing files'),
  dimensions: 'Dimensions',
  upload: 'Upload files',
} as const;
