/** The parts of a JSON text: texts, signs, and what is between them. */
const PARTS = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
/** A line that is too long to be read. */
const LONG = 300;
/** Above, the lines would slow the page down: each is indented by the depth of what it is in. */
export const MOST_INDENTED = 1_000_000;

/**
 * JSON of very long lines in lines of its own for each value. Numbers and texts stay as they are
 * written, which parsing would not leave them; what is no JSON stays, too. Null if the lines would
 * have more than `MOST_INDENTED` characters.
 */
export function indentJson(text: string): string | null {
  if (!text.split('\n').some((line) => line.length > LONG) || !isJson(text)) return text;
  let depth = 0;
  let out = '';
  let before = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [part] of text.matchAll(PARTS)) {
    if (out.length > MOST_INDENTED) return null;
    const closes = part === '}' || part === ']';
    if (closes) depth -= 1;
    const isEmpty = closes && (before === '{' || before === '[');
    if ((closes && !isEmpty) || (!closes && (before === '{' || before === '[' || before === ',')))
      out += newLine();
    out += part === ':' ? ': ' : part;
    if (part === '{' || part === '[') depth += 1;
    before = part;
  }
  return `${out}\n`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
