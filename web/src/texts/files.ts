import { formatNumber, pluralize } from './formats';

export const filesTexts = {
  change: (name: string) => `Change ${name}`,
  menuOf: (name: string) => `What can be done with ${name}`,
  showArchived: 'Show archived files',
  archived: 'archived',
  deleted: 'deleted',
  download: 'Download',
  downloadAll: 'Download all',
  uploadHere: 'Upload here',
  uploadVersion: 'Upload a new version',
  versions: 'Versions',
  acts: {
    rename: 'Rename',
    move: 'Move',
    copy: 'Copy',
    archive: 'Archive',
    restore: 'Restore',
    delete: 'Delete',
  },
  titles: {
    rename: (name: string) => `Rename ${name}`,
    move: (name: string) => `Move ${name}`,
    copy: (name: string) => `Copy ${name}`,
    archive: (name: string) => `Archive ${name}?`,
    restore: (name: string) => `Restore ${name}?`,
    delete: (name: string) => `Delete ${name}?`,
  },
  name: 'File name',
  folder: 'Folder',
  folderHelp: 'Leave it empty for no folder. A folder that does not exist is created.',
  copyTo: 'Copy to',
  thisAsset: 'This asset',
  otherAsset: 'Another asset',
  copyName: (stem: string, extension: string) => `${stem} copy${extension}`,
  slash: 'A file name must not contain a slash (/).',
  same: 'The file is there already. Choose another name or folder.',
  sameFolder: 'The folder is there already. Choose another name or place.',
  within: 'A folder cannot be moved into itself.',
  badName: (name: string, fact: string) => `The name “${name}” ${fact}.`,
  longPath: (bytes: number) => `The path must have at most ${formatNumber(bytes)} bytes.`,
  newFolderName: 'Folder name',
  into: 'Into the folder',
  holds: (files: number, archived: number) => {
    const shown = files ? `It has ${pluralize(files, 'file', 'files')}` : 'It has no files';
    return archived
      ? `${shown}, and ${pluralize(archived, 'archived file', 'archived files')}.`
      : `${shown}.`;
  },
  moved: (done: number, of: number) =>
    `Moved ${formatNumber(done)} of ${pluralize(of, 'file', 'files')}…`,
  stop: 'Stop',
  leftThere: (left: number, moved: number) =>
    `${pluralize(moved, 'file was', 'files were')} moved, and ${pluralize(left, 'is', 'are')} still in the folder:`,
  folderName: (name: string) => `the folder ${name}`,
  /** At the beginning of a sentence. */
  theFolder: (name: string) => `The folder ${name}`,
  archiveFile: 'The file is hidden. It can be restored.',
  archiveFolder: 'All files in the folder are hidden. They can be restored.',
  restoreFile: 'The file is shown again, with its last content and its metadata.',
  restoreFolder:
    'All archived files in the folder are shown again, with their last contents and their metadata. Files that were moved out of it are shown at their earlier places, too.',
  deleteFile:
    'The file, all its versions and its metadata are deleted. If it was renamed or moved, its earlier name remains as an archived file. This cannot be undone.',
  deleteFolder:
    'All files in the folder, also archived ones, are deleted with all versions and metadata. This cannot be undone.',
  busy: 'In progress…',
  job: 'This takes longer. It continues if you close this window, and the list of files shows the result.',
  done: {
    rename: (name: string) => `${name} is renamed.`,
    move: (name: string) => `${name} is moved.`,
    copy: (name: string) => `${name} is copied.`,
    archive: (name: string) => `${name} is archived.`,
    restore: (name: string) => `${name} is restored.`,
    delete: (name: string) => `${name} is deleted.`,
  },
  notDone: {
    rename: (name: string, reason: string) => `${name} was not renamed: ${reason}`,
    move: (name: string, reason: string) => `${name} was not moved: ${reason}`,
    copy: (name: string, reason: string) => `${name} was not copied: ${reason}`,
    archive: (name: string, reason: string) => `${name} was not archived: ${reason}`,
    restore: (name: string, reason: string) => `${name} was not restored: ${reason}`,
    delete: (name: string, reason: string) => `${name} was not deleted: ${reason}`,
  },
} as const;
