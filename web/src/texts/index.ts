import { en } from './en';

/** The texts of the page. A second language becomes a second file of the same shape. */
export const texts = en;
