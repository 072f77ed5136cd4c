import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Place } from '../../api/downloads';
import type { Card } from '../../api/hits';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { visibleName } from '../../texts/formats';
import { UserText } from '../../ui/UserText';
import { findNeighbours } from '../find/neighbours';

/** The way back to the hits and to the database, and to the hits beside this one. */
export function Breadcrumb({ place }: { place: Place }) {
  // As they were when the asset was opened: a later search of the page itself has others.
  const [hits] = useState(() => findNeighbours(place));
  return (
    <nav aria-label={assetTexts.where} className="breadcrumb">
      <Link to="/" search={hits?.state ?? {}} activeOptions={{ exact: true }}>
        {hits ? assetTexts.hits : texts.find.title}
      </Link>
      <span aria-hidden="true"> › </span>
      <Link
        to="/databases/$databaseId"
        params={{ databaseId: place.databaseId }}
        activeOptions={{ exact: true }}
      >
        <UserText text={place.databaseId} />
      </Link>
      {hits && (
        <span className="steps">
          <Step name={texts.find.previous} card={hits.previous} sign="‹" />
          <Step name={texts.find.next} card={hits.next} sign="›" />
        </span>
      )}
    </nav>
  );
}

function Step({ name, card, sign }: { name: string; card: Card | undefined; sign: string }) {
  if (!card) return null;
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={{ databaseId: card.databaseId, assetId: card.assetId }}
      search={{ file: card.file ?? undefined }}
      className="button small"
      title={visibleName(card.name)}
      aria-label={`${name}: ${visibleName(card.name)}`}
    >
      {sign}
    </Link>
  );
}
