import { count, plural, size } from '../ui/formats';

export const selectionTexts = {
  tag: 'Add a tag',
  tagName: 'Tag',
  chooseTag: 'Choose a tag',
  noTags: 'There are no tags yet. An administrator creates them.',
  archive: 'Archive',
  archiveTitle: (number: number) => `Archive ${plural(number, 'asset', 'assets')}?`,
  archiveHelp: 'Archived assets and their files are hidden. They can be restored.',
  progress: (at: number, of: number) => `${count(at)} of ${count(of)}…`,
  archived: (number: number) => `${plural(number, 'asset', 'assets')} archived`,
  restore: 'Restore',
  restored: (number: number) => `${plural(number, 'asset', 'assets')} restored`,
  tagged: (tag: string) => (number: number) =>
    `${plural(number, 'asset', 'assets')} tagged “${tag}”`,
  listing: 'Listing the files…',
  files: (files: number, bytes: number) =>
    `${plural(files, 'file', 'files')}, ${size(bytes)}, in one ZIP file`,
  leftOut: (number: number) => `${plural(number, 'is', 'are')} left out:`,
  overCount: 'Over the limit of 500',
  overSize: 'Over the limit of 1 GB',
  archivedFile: 'Archived',
  otherDatabase: (databaseId: string) => `The workflow is only for the database ${databaseId}.`,
  downloadTitle: (number: number) => `Download the files of ${plural(number, 'asset', 'assets')}`,
  downloadHelp: 'At most 500 files and 1 GB at once. More: vitrine download DATABASE ASSET',
  downloaded: (files: number) => `${plural(files, 'file', 'files')} downloaded`,
  notDownloaded: (files: number) => `${plural(files, 'file', 'files')} could not be downloaded:`,
  zipName: 'assets',
  stop: 'Stop',
  run: 'Run a workflow',
  runTitle: (number: number) => `Run a workflow on ${plural(number, 'asset', 'assets')}`,
  workflow: 'Workflow',
  chooseWorkflow: 'Choose a workflow',
  workflowName: (id: string, databaseId: string) =>
    databaseId === 'GLOBAL' ? id : `${id} (${databaseId})`,
  noWorkflows: 'There is no workflow that you may see for these assets.',
  runOn: 'Run on',
  theirFiles: 'The files of the assets',
  wholeAssets: 'The assets as a whole',
  onFiles: (files: number, assets: number, types: boolean) =>
    `It will run on ${plural(files, 'file', 'files')} of ${plural(assets, 'asset', 'assets')}${types ? ', of the types that it is for' : ''}.`,
  onAssets: (assets: number) => `It will run on ${plural(assets, 'asset', 'assets')}.`,
  noFiles: (types: boolean) =>
    types ? 'There is no file of a type that it is for.' : 'There is no file to run it on.',
  start: 'Run',
  started: (runs: number) => `${plural(runs, 'run', 'runs')} started. To watch:`,
  startedNow: (runs: number) => `${plural(runs, 'run', 'runs')} started`,
  notStarted: (runs: number, unclear: boolean) =>
    unclear
      ? `It is not known whether ${plural(runs, 'run was', 'runs were')} started:`
      : `${plural(runs, 'run', 'runs')} could not be started:`,
  watch: (databaseId: string, assetId: string) =>
    `vitrine executions list ${databaseId} ${assetId}`,
  watchOthers: (others: number) => `And ${plural(others, 'asset', 'assets')} more.`,
  watchHelp: 'The runs continue if you close this window.',
  failed: (done: number, names: string[], reason: string) =>
    `${count(done)} done, ${count(names.length)} failed (${names.slice(0, 3).join(', ')}): ${reason}`,
} as const;
