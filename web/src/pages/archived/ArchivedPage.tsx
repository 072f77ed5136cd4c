import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { restoreAsset } from '../../api/archiving';
import { assetQuery } from '../../api/assets';
import { errorText } from '../../api/errors';
import type { Card } from '../../api/hits';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { archivedTexts } from '../../texts/archived';
import { filesTexts } from '../../texts/files';
import { formatDateTime, visibleName } from '../../texts/formats';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { MoreButton } from '../../ui/MoreButton';
import { toast } from '../../ui/Toasts';
import { UserText } from '../../ui/UserText';
import { archivedQuery } from './queries';
import './archived.css';

const words = archivedTexts;

/** What is archived, by whom, and a way back for each. */
export function ArchivedPage() {
  const query = useInfiniteQuery(archivedQuery);
  const mayRestore = useMayWrite() ?? false;
  useEffect(() => {
    document.title = `${words.title} · ${texts.product}`;
  }, []);
  const cards = query.data?.pages.flatMap((page) => page.cards) ?? [];
  return (
    <div className="archived">
      <h1>{words.title}</h1>
      <p className="faint">{words.listHelp}</p>
      {query.isPending && <p className="faint">{texts.loading}</p>}
      {query.isError && !query.data && (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && !cards.length && <p className="notice">{words.none}</p>}
      <ul className="stack">
        {cards.map((card) => (
          <li key={card.id}>
            <ArchivedAsset card={card} mayRestore={mayRestore} />
          </li>
        ))}
      </ul>
      <MoreButton query={query} text={words.more} />
    </div>
  );
}

function ArchivedAsset({ card, mayRestore }: { card: Card; mayRestore: boolean }) {
  const { databaseId, assetId, name } = card;
  const place = { databaseId, assetId };
  const asset = useQuery(assetQuery(place)).data;
  const cache = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const restore = async () => {
    setBusy(true);
    try {
      await restoreAsset(place);
      toast(words.restored);
      document.getElementById('content')?.focus({ preventScroll: true });
    } catch (error) {
      toast(errorText(error));
    }
    await cache.invalidateQueries();
    setBusy(false);
  };
  return (
    <>
      <div>
        <Link to="/databases/$databaseId/assets/$assetId" params={place} preload={false}>
          <UserText text={name} />
        </Link>{' '}
        <span className="faint">
          <UserText text={databaseId} />
        </span>
        {asset?.archivedAt && (
          <p className="faint">
            {words.by(visibleName(asset.archivedBy ?? ''), formatDateTime(asset.archivedAt))}
          </p>
        )}
      </div>
      {mayRestore && (
        <button
          type="button"
          className="small"
          aria-label={words.restoreName(visibleName(name))}
          disabled={isBusy}
          onClick={() => void restore()}
        >
          {isBusy ? filesTexts.busy : words.restoreOne}
        </button>
      )}
    </>
  );
}
