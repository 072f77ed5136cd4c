import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { PictureSource } from '../../api/pictures';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { UserText } from '../../ui/UserText';
import { Picture } from '../../ui/Picture';
import { useTurntable } from '../../ui/turntable';
import { itemKey, picturesQuery, type LinkedItem } from './relationQueries';
import { InlineError } from '../../ui/InlineError';

const FIRST = 12;
/** As many as one request may name. */
const CHUNK = 200;

/** Assets and files as pictures that open them. */
export function PictureLinks({ items }: { items: readonly LinkedItem[] }) {
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

/** The room of pictures that are not known yet. */
export function WaitingPictures() {
  return (
    <>
      <p className="hidden">{texts.loading}</p>
      <ul className="pictures" aria-hidden="true">
        {Array.from({ length: FIRST }, (_, at) => (
          <li key={at}>
            <span className="picture" />
          </li>
        ))}
      </ul>
    </>
  );
}

function Chunk({ items }: { items: readonly LinkedItem[] }) {
  const query = useQuery(picturesQuery(items));
  return (
    <>
      {items.map((item) => (
        <li key={itemKey(item)}>
          <PictureLink
            item={item}
            picture={query.isPending ? null : (query.data?.get(itemKey(item)) ?? {})}
          />
        </li>
      ))}
      {query.isError && (
        <li className="unloaded">
          <InlineError query={query} />
        </li>
      )}
    </>
  );
}

function PictureLink({ item, picture }: { item: LinkedItem; picture: PictureSource | null }) {
  const { hoverProps, turntable } = useTurntable(item, picture ?? {});
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={{ databaseId: item.databaseId, assetId: item.assetId }}
      search={{ file: item.path }}
      title={visibleName(item.name)}
      preload={false}
      {...hoverProps}
    >
      <span className="picture">
        {picture && <Picture picture={picture} small />}
        {turntable}
      </span>
      <UserText text={item.name} line />
      {item.note && <span className="faint line">{visibleName(item.note)}</span>}
    </Link>
  );
}
