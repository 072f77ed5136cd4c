import type { components } from '../api/schema';

export type Config = components['schemas']['AmplifyConfigReply'];

/** The API declares `undefined`, as a text, for what it does not know. */
export const definedOrNull = (value: string | null | undefined): string | null =>
  value && value !== 'undefined' ? value : null;
