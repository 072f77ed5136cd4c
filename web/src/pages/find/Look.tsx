import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { texts } from '../../texts';
import { Name } from '../../ui/Name';
import { Picture } from '../../ui/Picture';
import { Stage } from '../../viewer/Stage';
import type { Card } from './hits';

/** A quick look at an asset, over the results. */
export function Look({ card, onClose }: { card: Card; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      className="look-at"
      aria-labelledby="look"
      onClose={onClose}
      onKeyDown={(event) => {
        if (event.key === ' ' && event.target === event.currentTarget) dialog.current?.close();
      }}
    >
      <header>
        <h2 id="look">
          <Name text={card.name} />
        </h2>
        <Link
          to="/databases/$databaseId/assets/$assetId"
          params={{ databaseId: card.databaseId, assetId: card.assetId }}
          search={{ file: card.file ?? undefined }}
          className="button primary"
          preload={false}
        >
          {texts.find.open}
        </Link>
        <button type="button" onClick={() => dialog.current?.close()}>
          {texts.close}
        </button>
      </header>
      {card.file ? (
        <Stage
          databaseId={card.databaseId}
          assetId={card.assetId}
          file={{ path: card.file, size: null }}
          picture={card.picture}
        />
      ) : (
        <div className="stage">
          <span className="poster">
            <Picture picture={card.picture} />
          </span>
        </div>
      )}
    </dialog>
  );
}
