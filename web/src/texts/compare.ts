import { pluralize } from './formats';

export const compareTexts = {
  title: 'Side by side',
  open: 'Side by side',
  openFile: (name: string) => `Side by side: ${name}`,
  wrong: 'The address names no two files.',
  inPlace: 'Both are seen by one camera, in the places that the file gives them.',
  centred: 'Both are seen by one camera, as large as they are to each other.',
  sameParts: 'Their parts do not differ.',
  differing: (removed: number, added: number, changed: number) =>
    `${pluralize(removed, 'part', 'parts')} only on the left, ${pluralize(added, 'part', 'parts')} only on the right, ${pluralize(changed, 'part', 'parts')} changed.`,
  colored: 'Colour them: red only on the left, green only on the right, yellow changed',
  ofVersion: (id: string) => `in version ${id}`,
  earlier: 'an earlier content',
  newest: 'the newest content',
} as const;
