export const tagTexts = {
  unknown: (name: string) => `There is no tag “${name}”. Choose one of those that are offered.`,
  invalid: 'The name of a tag has letters from a to z, digits, spaces, and the signs . _ - only.',
  invalidType:
    'Enter a type: letters from a to z, digits, spaces, and the signs . _ - are possible.',
  isNew: (name: string) => `There is no tag “${name}” yet`,
  type: 'Type of the tag',
  create: 'Create the tag',
} as const;
