import { pluralize } from './formats';

export const databasesTexts = {
  title: 'Databases',
  all: 'All databases',
  about: 'About this database',
  assets: (number: number) => pluralize(number, 'asset', 'assets'),
  since: (day: string) => `created ${day}`,
  search: 'Search in this database',
  upload: 'Upload into this database',
  newest: 'Newest assets',
  empty: 'This database has no assets yet.',
  emptyHelp: 'Upload a folder of models or images to begin.',
  unseen: 'There are no assets here that you may see.',
  gone: 'This database does not exist, or you may not see it.',
  none: 'There are no databases that you may see.',
  create: 'New database',
  createNow: 'Create',
  created: (name: string) => `The database ${name} is created.`,
  bucket: 'Bucket for its files',
  bucketName: (bucket: string, prefix: string) => bucket + (prefix === '/' ? '' : `/${prefix}`),
  edit: 'Edit the description',
  other:
    'Someone else changed the description meanwhile. Compare it with yours, and save again to write yours.',
  leave: 'Your change of the description is not saved. Leave without saving it?',
} as const;
