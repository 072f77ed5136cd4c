export const archivedTexts = {
  help: 'The files of an archived asset are hidden. Restore the asset to look at them again.',
  restore: 'Restore the asset',
  restored: 'The asset is restored.',
} as const;
