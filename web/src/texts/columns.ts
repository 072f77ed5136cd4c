import { MOST_COLUMNS } from '../api/columns';

/** The columns of the list of hits. */
export const columnTexts: Record<string, string> = {
  name: 'Name',
  database: 'Database',
  type: 'Type',
  size: 'Size',
  files: 'Files',
  tags: 'Tags',
  changed: 'Changed',
};

export const columnsTexts = {
  title: 'Columns of the list',
  help: `Up to ${MOST_COLUMNS} beside the name. Facts are those of the files that match best.`,
  own: 'Of each asset',
  facts: 'Facts',
  metadata: 'Metadata of the asset',
  key: 'Key',
  add: 'Add column',
  done: 'Done',
} as const;
