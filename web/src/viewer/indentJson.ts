/** The parts of a JSON text: texts, signs, and what is between them. */
const PARTS = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
/** A line that is too long to be read. */
const LONG = 300;

/**
 * JSON of very long lines in lines of its own for each value. Numbers and texts stay as they are
 * written, which parsing would not leave them; what is no JSON stays, too.
 */
export function indentJson(text: string): string {
  if (!text.split('\n').some((line) => line.length > LONG) || !isJson(text)) return text;
  let depth = 0;
  let out = '';
  let before = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [part] of text.matchAll(PARTS)) {
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
