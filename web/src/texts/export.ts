import { formatNumber, pluralize } from './formats';

export const exportTexts = {
  title: 'Export these results',
  help: 'The list opens in a spreadsheet. Of more than 10,000 assets it has the first.',
  csv: 'Save as CSV',
  fileName: 'assets.csv',
  progress: (done: number, of: number) => `${formatNumber(done)} of ${formatNumber(of)} assets…`,
  done: (assets: number) => `${pluralize(assets, 'asset', 'assets')} saved`,
  columns: ['Database', 'Asset', 'Description', 'Type', 'Size', 'Tags', 'Changed', 'Address'],
} as const;
