export const archivedTexts = {
  help: 'The files of an archived asset are hidden. Restore the asset to look at them again.',
  restore: 'Restore the asset',
  restored: 'The asset is restored.',
  title: 'Archived assets',
  listHelp:
    'Archived assets are hidden from searches until they are restored. Archived files of an asset are shown on its page.',
  none: 'No asset that you may see is archived.',
  more: 'Load more archived assets',
  restoreOne: 'Restore',
  restoreName: (name: string) => `Restore ${name}`,
  by: (user: string, date: string) => (user ? `archived by ${user}, ${date}` : date),
} as const;
