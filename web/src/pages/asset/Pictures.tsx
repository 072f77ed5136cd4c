import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Pictured } from '../../api/pictures';
import { texts } from '../../texts';
import { legible } from '../../ui/formats';
import { Name } from '../../ui/Name';
import { Picture } from '../../ui/Picture';
import { useTurning } from '../../ui/turning';
import { idOf, picturesOf, type Shown } from './relationQueries';

const FIRST = 12;
/** As many as one request may name. */
const CHUNK = 200;

/** Assets and files as pictures that open them. */
export function Pictures({ items }: { items: readonly Shown[] }) {
  const [shown, setShown] = useState(FIRST);
  const chunks = [items.slice(0, FIRST)];
  for (let at = FIRST; at < shown; at += CHUNK) chunks.push(items.slice(at, at + CHUNK));
  return (
    <>
      <ul className="pictures">
        {chunks.map((chunk, at) => (
          <Chunk key={at} items={chunk} />
        ))}
      </ul>
      {shown < items.length && (
        <button type="button" className="quiet small" onClick={() => setShown(shown + CHUNK)}>
          {texts.find.more(items.length - shown)}
        </button>
      )}
    </>
  );
}

function Chunk({ items }: { items: readonly Shown[] }) {
  const found = useQuery(picturesOf(items));
  return items.map((item) => (
    <li key={idOf(item)}>
      <Item item={item} picture={found.isPending ? null : (found.data?.get(idOf(item)) ?? {})} />
    </li>
  ));
}

function Item({ item, picture }: { item: Shown; picture: Pictured | null }) {
  const { pointed, turning } = useTurning(item, picture ?? {});
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={{ databaseId: item.databaseId, assetId: item.assetId }}
      search={{ file: item.path }}
      title={legible(item.name)}
      preload={false}
      {...pointed}
    >
      <span className="picture">
        {picture && <Picture picture={picture} small />}
        {turning}
      </span>
      <Name text={item.name} line />
      {item.note && <span className="faint line">{legible(item.note)}</span>}
    </Link>
  );
}
