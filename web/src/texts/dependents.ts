import { formatNumber } from './formats';

export const dependentsTexts = {
  checking: 'Looking for what this affects…',
  unknown: (reason: string) => `It is not known what this affects. ${reason}`,
  file: (files: number) =>
    files === 1
      ? 'A file of this asset refers to it and will no longer find it:'
      : `${formatNumber(files)} files of this asset refer to it and will no longer find it:`,
  folder: (files: number) =>
    files === 1
      ? 'A file of this asset refers to files in the folder and will no longer find them:'
      : `${formatNumber(files)} files of this asset refer to files in the folder and will no longer find them:`,
  needs: (files: number) =>
    files === 1
      ? 'It refers to a file by its relative path and will not find it from another place:'
      : `It refers to ${formatNumber(files)} files by their relative paths and will not find them from another place:`,
  folderNeeds: (files: number) =>
    files === 1
      ? 'Files in the folder refer to a file outside of it by its relative path and will not find it from another place:'
      : `Files in the folder refer to ${formatNumber(files)} files outside of it by their relative paths and will not find them from another place:`,
  assets: (assets: number) =>
    assets === 1
      ? 'An asset has some of them as parts:'
      : `${formatNumber(assets)} assets have some of them as parts:`,
} as const;
