import { formatNumber, formatList, pluralize } from './formats';

export const uploadTexts = {
  title: 'Upload',
  drop: 'Drop files or a folder here',
  intoFolder: (folder: string) => `The files go into the folder ${folder}.`,
  or: 'or',
  chooseFiles: 'Choose files',
  chooseFolder: 'Choose a folder',
  target: 'Where to',
  newAsset: 'A new asset',
  existingAsset: 'An existing asset',
  database: 'Database',
  chooseDatabase: 'Choose a database',
  assetName: 'Name of the asset',
  asset: 'Asset',
  chooseAsset: 'Choose an asset',
  findAsset: 'Find the asset by a part of its name',
  description: 'Description',
  descriptionHelp: 'At least four characters.',
  shortDescription: 'The description needs at least four characters.',
  tags: 'Tags',
  distributable: 'Its files may be downloaded',
  start: (files: number) => (files ? `Upload ${pluralize(files, 'file', 'files')}` : 'Upload'),
  pause: 'Pause',
  resume: 'Resume',
  cancel: 'Cancel the upload',
  cancelConfirm: (files: number) =>
    `${pluralize(files, 'file', 'files')} will not be uploaded, and what was sent of them is deleted.`,
  retry: 'Try the failed files again',
  remove: (name: string) => `Do not upload ${name}`,
  clear: 'Remove all files',
  chosen: (files: number, size: string) => `${pluralize(files, 'file', 'files')}, ${size}`,
  same: 'already there, same content',
  checking: 'Comparing with what is already there…',
  comparison: 'What is already there',
  marks: {
    new: 'new',
    comparing: 'being compared',
    same: 'already there, same content',
    alike: 'already there, same path and size',
    replaces: 'replaces the present version',
  },
  compared: (files: Record<'new' | 'replaces' | 'same' | 'alike' | 'comparing', number>) => {
    const counts = [
      [files.new, 'is new', 'are new'],
      [files.replaces, 'replaces the present version', 'replace the present version'],
      [
        files.same,
        'is already there with the same content (SHA-256)',
        'are already there with the same content (SHA-256)',
      ],
      [
        files.alike,
        'has the path and size of a file that is there',
        'have the path and size of a file that is there',
      ],
      [files.comparing, 'is still being compared', 'are still being compared'],
    ] as const;
    return `${formatList(counts.filter(([number]) => number).map(([number, singular, many]) => pluralize(number, singular, many)))}.`;
  },
  notCompared: (reason: string) =>
    `It is not known which of these files are already there: ${reason} You can upload them all the same.`,
  leaveOut: {
    same: (files: number) =>
      files === 1
        ? 'Leave out the file that is already there with the same content'
        : `Leave out the ${formatNumber(files)} files that are already there with the same content`,
    alike: (files: number) =>
      files === 1
        ? 'Leave out the file that has the path and size of one that is there'
        : `Leave out the ${formatNumber(files)} files that have the path and size of one that is there`,
  },
  refused: {
    name: (fact: string) => `Its name ${fact}.`,
    folder: (name: string, fact: string) => `The name of its folder “${name}” ${fact}.`,
    path: (bytes: number) => `Its path must have at most ${formatNumber(bytes)} bytes.`,
    blocked: (extension: string) => `Files with the extension ${extension} are blocked.`,
    type: (extensions: readonly string[]) =>
      `The database accepts only files of the types ${formatList(extensions)}.`,
    twice: 'Another chosen file has the same path.',
    summary: (files: number, others: boolean) => {
      const [subject, them] = files === 1 ? ['it', 'it'] : ['each', 'them'];
      return `${pluralize(files, 'file', 'files')} cannot be uploaded, for the reason beside ${subject}. Rename ${them} on this computer and choose ${them} again${others ? `, or go on without ${them}` : ''}.`;
    },
    all: 'None of the chosen files can be uploaded: the reason is beside each.',
  },
  sameName: {
    title: 'These names exist at other paths. Choose what the files are:',
    newFile: (path: string) => `A new file: ${path}`,
    newVersion: (path: string) => `A new version of ${path}`,
  },
  allLeftOut: 'All chosen files are left out, so there is nothing to upload.',
  states: {
    waiting: 'waiting',
    hashing: 'being read',
    sending: 'sending',
    sent: 'sent',
    completing: 'being stored',
    done: 'done',
    failed: 'failed',
    skipped: 'left out',
  },
  progress: (done: string, all: string) => `${done} of ${all}`,
  offline: (progress: string) =>
    `Offline: ${progress}. The upload goes on by itself when the connection is back.`,
  busy: (progress: string) => `The server is busy, and the upload waits: ${progress}.`,
  inSeconds: (seconds: number) => ` It goes on in ${pluralize(seconds, 'second', 'seconds')}.`,
  paused: (progress: string) => `Paused: ${progress}`,
  done: 'The upload is complete.',
  stopped: 'The upload was stopped.',
  partly: (failed: number) => `${pluralize(failed, 'file', 'files')} could not be uploaded.`,
  open: 'Open the asset',
  another: 'Upload more',
  newDatabase: 'A new database…',
  databaseName: 'Name of the database',
  databaseNameHelp: 'Letters, digits, - and _, at least three and at most 63.',
  databaseText: 'Description of the database',
  databaseDescription: 'Models, images and their documents',
  firstDatabase: 'library',
  filesOf: (name: string) => `Files of ${name}`,
  createDatabase: 'Upload files to create one',
  show: 'Show',
  notAllowed: 'You may not upload files. An administrator can give you a role that may.',
  required: (name: string) => `${name} is required.`,
  needFiles: 'Choose files first.',
} as const;
