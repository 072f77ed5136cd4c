import { Link } from '@tanstack/react-router';
import { texts } from '../../texts';
import { UserText } from '../../ui/UserText';
import { visibleName, formatBytes } from '../../texts/formats';
import { Picture } from '../../ui/Picture';
import { useTurntable } from '../../ui/turntable';
import type { Card } from '../../api/hits';

export interface CardProps {
  card: Card;
  tabbable: boolean;
  selected: boolean;
  selecting: boolean;
  /** With the Shift key, all from the one that was selected before; absent if nothing can be. */
  onSelect: ((range: boolean) => void) | undefined;
  onQuickLook: () => void;
}

export function AssetLink({
  card,
  tabbable,
  className,
}: {
  card: Card;
  tabbable: boolean;
  className: string;
}) {
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={{ databaseId: card.databaseId, assetId: card.assetId }}
      search={{ file: card.file ?? undefined }}
      className={className}
      tabIndex={tabbable ? 0 : -1}
      aria-keyshortcuts="Enter Space x"
      title={visibleName(card.name)}
      preload={false}
    >
      <UserText text={card.name} />
    </Link>
  );
}

export function SelectCheckbox({ card, tabbable, selected, onSelect }: CardProps) {
  if (!onSelect) return null;
  return (
    <input
      type="checkbox"
      className="select"
      // Beside the link of the same card, the only one in the order of the Tab key.
      tabIndex={tabbable ? 0 : -1}
      aria-keyshortcuts="x"
      title={texts.find.selectKey}
      aria-label={texts.find.select(card.name)}
      checked={selected}
      onChange={({ nativeEvent }) =>
        onSelect('shiftKey' in nativeEvent && nativeEvent.shiftKey === true)
      }
    />
  );
}

/** How many letters a column has room for beside a count; the edges of a tag are as wide as three. */
const [LETTERS, EDGES] = [14, 3];

/** Of an asset without files the server says `none`. */
export const typeOf = ({ type }: Card): string => (type === 'none' ? '' : type);

export const sizeOf = ({ size: bytes }: Card): string => (bytes === null ? '' : formatBytes(bytes));

/** The server of an older release does not count them. */
const filesOf = ({ files }: Card): string => (files === null ? '' : texts.find.files(files));

/** The first tags, whole where there is room; the others are counted. */
export function Tags({ card: { tags } }: { card: Card }) {
  const widthTo = (end: number) => tags.slice(0, end).join('').length + end * EDGES;
  const shown = tags.filter((_, at) => at === 0 || widthTo(at + 1) <= LETTERS);
  return (
    <>
      {shown.map((tag) => (
        <span key={tag} className="tag">
          <UserText text={tag} />
        </span>
      ))}
      {tags.length > shown.length && (
        <span className="faint">{texts.find.moreTags(tags.length - shown.length)}</span>
      )}
    </>
  );
}

export function AssetCard(props: CardProps) {
  const { card, selected, selecting } = props;
  const facts = [typeOf(card), sizeOf(card), filesOf(card)].filter(Boolean).join(' · ');
  const { hoverProps, turntable } = useTurntable({ ...card, path: card.file }, card.picture);
  return (
    <article
      className={`card${selected ? ' chosen' : ''}${selecting ? ' selecting' : ''}`}
      {...hoverProps}
    >
      <span className="picture">
        <Picture picture={card.picture} small />
        {turntable}
      </span>
      <AssetLink card={card} tabbable={props.tabbable} className="name cover" />
      <p className="faint line">
        <bdi>{card.databaseId}</bdi>
      </p>
      <p className="faint line">{facts}</p>
      <p className="tags" title={visibleName(card.tags.join(', '))}>
        <Tags card={card} />
      </p>
      <SelectCheckbox {...props} />
      <button
        type="button"
        className="look"
        tabIndex={-1}
        onClick={props.onQuickLook}
        aria-label={`${texts.find.quickLook}: ${card.name}`}
      >
        {texts.find.quickLook}
      </button>
    </article>
  );
}
