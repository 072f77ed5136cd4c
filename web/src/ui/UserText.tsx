import { visibleName } from '../texts/formats';

/** A name that someone chose: it reorders neither what is around it nor its own letters. */
export function UserText({ text, line, title }: { text: string; line?: boolean; title?: string }) {
  return (
    <bdi className={line ? 'line' : undefined} title={title && visibleName(title)}>
      {visibleName(text)}
    </bdi>
  );
}
