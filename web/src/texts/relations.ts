import { formatNumber, pluralize } from './formats';

export const relationsTexts = {
  needs: 'Files that it needs',
  lacking: (files: number) =>
    files === 1
      ? 'One of these files is missing: the model may look incomplete.'
      : `${formatNumber(files)} of these files are missing: the model may look incomplete.`,
  omitted: (files: number) => `And ${pluralize(files, 'file', 'files')} more.`,
  upload: 'Upload the missing files',
  kinds: {
    texture: 'texture',
    buffer: 'data',
    material: 'materials',
    model: 'model',
    other: 'file',
  },
  states: {
    found: '',
    missing: 'missing',
    absolute: 'missing: the address is of another computer',
    outside: 'missing: the address is outside the asset',
    otherCase: 'found, but its name has other capital letters',
    external: 'on the web, not loaded',
    embedded: 'inside the file',
  },
  circular: 'refers back to this file',
  usedBy: 'Files that use this file',
  usedIn: 'Used in',
  parts: 'Parts',
  related: 'Related',
  similar: 'Similar shapes',
  alike: (percent: string) => `${percent} alike`,
} as const;
