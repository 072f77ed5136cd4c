import { selectionTexts } from '../../texts/selection';
import { UserText } from '../../ui/UserText';
import type { LeftOut } from './selectedFiles';

/** What an act leaves out, each with its reason. */
export function LeftOutList({ title, items }: { title?: string; items: readonly LeftOut[] }) {
  if (!items.length) return null;
  return (
    <>
      <p>{title ?? selectionTexts.leftOut(items.length)}</p>
      <ul className="names" tabIndex={0} aria-label={title ?? selectionTexts.leftOut(items.length)}>
        {items.map(({ name, reason }, at) => (
          <li key={at}>
            <UserText text={name} /> <span className="faint">{reason}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
