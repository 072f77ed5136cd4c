import type { ReactNode } from 'react';
import { columns } from '../../api/columns';
import { useStore } from '../../api/createStore';
import type { Card } from '../../api/hits';
import { texts } from '../../texts';
import { formatDate, formatNumber, visibleName } from '../../texts/formats';
import { Picture } from '../../ui/Picture';
import { UserText } from '../../ui/UserText';
import { FACT_PREFIX } from '../../ui/facts';
import { useTurntable } from '../../ui/turntable';
import { formatFactValue } from '../../ui/units';
import { AssetLink, SelectCheckbox, Tags, sizeOf, typeOf, type CardProps } from './cards';
import { isNumeric } from './columnLabels';

/** A hit in the list. */
export function AssetRow(props: CardProps) {
  const { card, selected } = props;
  const { hoverProps, turntable } = useTurntable({ ...card, path: card.file }, card.picture);
  return (
    <article className={`row${selected ? ' chosen' : ''}`} {...hoverProps}>
      <span className="box">
        <SelectCheckbox {...props} />
      </span>
      <span className="picture">
        <Picture picture={card.picture} small />
        {turntable}
      </span>
      <span className="line">
        <AssetLink card={card} tabbable={props.tabbable} className="name" />
        <span className="faint line">
          {card.isArchived && <span className="tag">{texts.picture.archived}</span>}{' '}
          {card.description}
        </span>
      </span>
      {useStore(columns).map((column) => (
        <Cell key={column} column={column} card={card} />
      ))}
    </article>
  );
}

const OWN: Record<string, (card: Card) => ReactNode> = {
  database: (card) => <bdi>{card.databaseId}</bdi>,
  type: typeOf,
  size: sizeOf,
  files: ({ files }) => files !== null && formatNumber(files),
  changed: ({ changed }) => changed && formatDate(changed),
};

function Cell({ column, card }: { column: string; card: Card }) {
  if (column === 'tags') {
    return (
      <span className="tags wide" title={visibleName(card.tags.join(', '))}>
        <Tags card={card} />
      </span>
    );
  }
  const own = OWN[column];
  return (
    <span className={`line wide${isNumeric(column) ? ' number' : ''}`}>
      {own ? own(card) : <UserText text={valueOf(column, card)} />}
    </span>
  );
}

function valueOf(column: string, card: Card): string {
  if (!column.startsWith(FACT_PREFIX)) return card.metadata[column.replace('metadata.', '')] ?? '';
  const facts = card.facts.find((facts) => column in facts) ?? {};
  const named = Object.entries(facts).map(([key, value]): [string, string] => [
    key.slice(FACT_PREFIX.length),
    value,
  ]);
  return formatFactValue(column.slice(FACT_PREFIX.length), facts[column] ?? '', new Map(named));
}
