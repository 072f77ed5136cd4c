import { en } from './en';

/** The texts of the first load. A second language becomes a second folder of the same files. */
export const texts = en;
