export const editTexts = {
  title: 'Edit the asset',
  start: 'Edit',
  save: 'Save',
  saved: 'The changes are saved.',
  savedFirst: 'Saved, without what you have typed since. Save again to write that, too.',
  other:
    'Someone else changed this asset meanwhile. Their changes are included here; save again to write yours.',
  both: 'Someone else changed this asset meanwhile. Compare their values with yours, and save again to write yours.',
  theirs: 'Theirs:',
  take: 'Use theirs',
  notAdded: (tag: string) => `The tag “${tag}” is typed and not added. Add it, or empty the field.`,
  addTag: 'Add a tag',
  add: 'Add',
  removeTag: (tag: string) => `Remove the tag ${tag}`,
  leave: 'Your changes of this asset are not saved. Leave without saving them?',
} as const;
