import { formatNumber, pluralize, formatBytes } from './formats';

export const selectionTexts = {
  tag: 'Add a tag',
  tagName: 'Tag',
  untag: 'Remove a tag',
  archive: 'Archive',
  archiveTitle: (number: number) => `Archive ${pluralize(number, 'asset', 'assets')}?`,
  archiveHelp: 'Archived assets and their files are hidden. They can be restored.',
  progress: (at: number, of: number) => `${formatNumber(at)} of ${formatNumber(of)}…`,
  archived: (number: number) => `${pluralize(number, 'asset', 'assets')} archived`,
  restore: 'Restore',
  restored: (number: number) => `${pluralize(number, 'asset', 'assets')} restored`,
  tagged: (tag: string) => (number: number) =>
    `${pluralize(number, 'asset', 'assets')} tagged “${tag}”`,
  untagged: (tag: string) => (number: number) =>
    `“${tag}” removed from ${pluralize(number, 'asset', 'assets')}`,
  listing: 'Listing the files…',
  files: (files: number, bytes: number) =>
    `${pluralize(files, 'file', 'files')}, ${formatBytes(bytes)}`,
  leftOut: (number: number) => `${pluralize(number, 'is', 'are')} left out:`,
  overCount: (most: number) => `Over the limit of ${formatNumber(most)}`,
  overSize: 'Over the limit of 1 GB',
  archivedFile: 'Archived',
  otherDatabase: (databaseId: string) => `The workflow is only for the database ${databaseId}.`,
  downloadTitle: (number: number) =>
    `Download the files of ${pluralize(number, 'asset', 'assets')}`,
  downloadFolder: (name: string) => `Download the folder ${name}`,
  downloadHelp: 'At most 500 files and 1 GB at once.',
  streamHelp: 'At most 10,000 files at once. Keep this window open until the end.',
  folderHelp: 'Files that the folder has with the same size are kept, unless they are older.',
  intoFolder: 'Save into a folder…',
  restAsZip: 'Download the missing files',
  notStreamed:
    'This browser cannot save this download as one file. Choose fewer files, up to 1 GB.',
  notWritten: 'The browser could not write it: the disk may be full, or the folder protected',
  broken: (files: number) =>
    `The download has ended early: ${pluralize(files, 'file is', 'files are')} missing.`,
  downloaded: (files: number) => `${pluralize(files, 'file', 'files')} downloaded`,
  notDownloaded: (files: number) => `${pluralize(files, 'file', 'files')} could not be downloaded:`,
  zipName: 'assets',
  stop: 'Stop',
  run: 'Run a workflow',
  runTitle: (number: number) => `Run a workflow on ${pluralize(number, 'asset', 'assets')}`,
  workflow: 'Workflow',
  chooseWorkflow: 'Choose a workflow',
  workflowName: (id: string, databaseId: string) =>
    databaseId === 'GLOBAL' ? id : `${id} (${databaseId})`,
  noWorkflows: 'There is no workflow that you may see for these assets.',
  runOn: 'Run on',
  theirFiles: 'The files of the assets',
  wholeAssets: 'The assets as a whole',
  onFiles: (files: number, assets: number, types: boolean) =>
    `It will run on ${pluralize(files, 'file', 'files')} of ${pluralize(assets, 'asset', 'assets')}${types ? ', of the types that it is for' : ''}.`,
  onAssets: (assets: number) => `It will run on ${pluralize(assets, 'asset', 'assets')}.`,
  noFiles: (types: boolean) =>
    types ? 'There is no file of a type that it is for.' : 'There is no file to run it on.',
  start: 'Run',
  started: (runs: number) => `${pluralize(runs, 'run', 'runs')} started:`,
  startedNow: (runs: number) => `${pluralize(runs, 'run', 'runs')} started`,
  notStarted: (runs: number, unclear: boolean) =>
    unclear
      ? `It is not known whether ${pluralize(runs, 'run was', 'runs were')} started:`
      : `${pluralize(runs, 'run', 'runs')} could not be started:`,
  watch: (asset: string) => `Runs on ${asset}`,
  watchOthers: (others: number) => `And ${pluralize(others, 'asset', 'assets')} more.`,
  watchHelp: 'The runs continue if you close this window.',
  failed: (done: number, names: string[], reason: string) =>
    `${formatNumber(done)} done, ${formatNumber(names.length)} failed (${names.slice(0, 3).join(', ')}): ${reason}`,
} as const;
