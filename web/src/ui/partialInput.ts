/**
 * The inputs whose text is no whole value: of a date without its day, a browser reports '' as the
 * value, like of one that was emptied.
 */
export const partialInputs = (root: ParentNode): HTMLInputElement[] =>
  [...root.querySelectorAll('input')].filter(({ validity }) => validity.badInput);
