import { useQuery } from '@tanstack/react-query';
import { Link, useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { sheetTexts } from '../../texts/sheet';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { useSelection } from '../find/useSelection';
import { ChangesBar } from './ChangesBar';
import { Conflicts, Refusals } from './Outcomes';
import { MetadataGrid } from './MetadataGrid';
import type { SheetRow } from './sheet';
import { readSheet } from './sheetQueries';
import { SheetTools } from './SheetTools';
import { useSheet } from './useSheet';
import './sheet.css';

const words = sheetTexts;
const MOST_ASSETS = 1_000;

/** The metadata of the selected assets in one table. */
export function MetadataPage() {
  const { selection } = useSelection();
  const [cards] = useState(() => [...selection.values()].filter((card) => !card.isArchived));
  const [done, setDone] = useState(0);
  const mayWrite = useMayWrite();
  const isTooLarge = cards.length > MOST_ASSETS;
  const title = words.title(cards.length);
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  const query = useQuery({
    queryKey: ['sheet', cards.map(({ id }) => id)],
    queryFn: ({ signal }) => readSheet(cards, signal, setDone),
    enabled: mayWrite === true && cards.length > 0 && !isTooLarge,
    // What is stored when it is opened; later changes are conflicts.
    staleTime: Infinity,
    gcTime: 0,
    refetchOnReconnect: false,
  });
  const reason = !cards.length || mayWrite === false ? words.none : '';
  return (
    <div className="sheet">
      <h1>{title}</h1>
      {reason || isTooLarge ? (
        <p className="notice">
          {reason || words.tooMany(cards.length, MOST_ASSETS)} <Link to="/">{words.search}</Link>
        </p>
      ) : query.isError ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data ? (
        <MetadataTable rows={query.data} />
      ) : (
        <p className="notice" role="status">
          {words.reading(done, cards.length)}
        </p>
      )}
    </div>
  );
}

function MetadataTable({ rows }: { rows: SheetRow[] }) {
  const sheet = useSheet(rows);
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && sheet.hasEdits() && !confirm(words.leave),
    enableBeforeUnload: () => sheet.hasEdits(),
  });
  return (
    <>
      <SheetTools sheet={sheet} />
      <Refusals sheet={sheet} />
      <Conflicts sheet={sheet} />
      {sheet.columns.length ? (
        <MetadataGrid sheet={sheet} />
      ) : (
        <p className="notice">{words.empty}</p>
      )}
      <ChangesBar sheet={sheet} />
    </>
  );
}
