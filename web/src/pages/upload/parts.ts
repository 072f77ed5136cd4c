const MIB = 1024 * 1024;
const DEFAULT_PART = 150 * MIB;
const OWN_PART = 32 * MIB;
const MOST_PARTS = 2_500;

/** Whether a file is sent in several parts: an upload of it can be continued. */
export const isLarge = (size: number): boolean => size > OWN_PART;

/** How many parts to ask for: small ones lose little when a connection breaks. */
export function wantedParts(size: number): number | undefined {
  if (!isLarge(size)) return undefined;
  return Math.min(Math.ceil(size / OWN_PART), MOST_PARTS);
}

/**
 * The sizes of the parts of a file: whole default parts where their number is that of the server,
 * else even ones, so that both sides compute the same.
 */
export function partSizes(size: number, count: number): number[] {
  if (size === 0) return [];
  if (Math.ceil(size / DEFAULT_PART) === count) {
    const whole = Array.from({ length: count - 1 }, () => DEFAULT_PART);
    return [...whole, size - DEFAULT_PART * (count - 1)];
  }
  const [length, longer] = [Math.floor(size / count), size % count];
  return Array.from({ length: count }, (_, at) => (at < longer ? length + 1 : length));
}
