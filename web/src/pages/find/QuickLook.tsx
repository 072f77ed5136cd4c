import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useRef, type KeyboardEvent } from 'react';
import { pictureUrl } from '../../api/pictures';
import { texts } from '../../texts';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { Picture } from '../../ui/Picture';
import { Stage } from '../../viewer/Stage';
import type { Card } from '../../api/hits';
import { PAGE } from './searchBody';
import type { FindState } from './findState';
import { cardsBetween, pageOfIndex, usePages } from './useSearch';

interface Props {
  state: FindState;
  index: number;
  total: number;
  onMove: (index: number) => void;
  onClose: () => void;
}

/** A quick look at an asset, and at those before and after it, over the results. */
export function QuickLook({ state, index, total, onMove, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isLeaving = useRef(false);
  useLayoutEffect(() => {
    const element = dialog.current;
    isLeaving.current = false;
    element?.showModal();
    // Not its first button: Space closes the dialog as it has opened it.
    element?.focus();
    return () => {
      // By a step back: a dialog that is removed while it is open returns no focus.
      isLeaving.current = true;
      element?.close();
    };
  }, []);
  const { pages, failed } = usePages(state, [pageOfIndex(index)]);
  const page = pages.get(pageOfIndex(index));
  const card = page?.cards[index % PAGE];
  const next = cardsBetween(state, index + 1, index + 1)?.[0]?.picture.preview;
  const move = (step: number) => {
    if (index + step >= 0 && index + step < total) onMove(index + step);
  };
  const onKey = (event: KeyboardEvent) => {
    // Within the stage the keys belong to the viewer.
    if (event.target instanceof Element && event.target.closest('.stage')) return;
    if (event.key === 'ArrowRight') move(1);
    else if (event.key === 'ArrowLeft') move(-1);
    else if (event.key === ' ' && event.target === dialog.current) dialog.current.close();
  };
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      className="look-at"
      aria-labelledby="look"
      onClose={() => {
        if (!isLeaving.current) onClose();
      }}
      onKeyDown={onKey}
    >
      <header>
        <h2 id="look">{card && <UserText text={card.name} />}</h2>
        {([-1, 1] as const).map((step) => (
          <button
            key={step}
            type="button"
            aria-label={step < 0 ? texts.find.previous : texts.find.next}
            // Not disabled: the focus would be lost at the end.
            aria-disabled={index + step < 0 || index + step >= total}
            onClick={() => move(step)}
          >
            {step < 0 ? '‹' : '›'}
          </button>
        ))}
        {card && (
          <Link
            to="/databases/$databaseId/assets/$assetId"
            params={{ databaseId: card.databaseId, assetId: card.assetId }}
            search={{ file: card.file ?? undefined }}
            className="button primary"
            preload={false}
          >
            {texts.find.open}
          </Link>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          {texts.close}
        </button>
      </header>
      {card && <Preview key={card.id} card={card} />}
      {!card && !failed && <p role="status">{texts.loading}</p>}
      {failed && <InlineError query={failed} />}
      {/* The next picture is loaded before it is looked at. */}
      {next && <img src={pictureUrl(next)} alt="" hidden />}
    </dialog>
  );
}

function Preview({ card }: { card: Card }) {
  if (card.file) {
    return (
      <Stage
        databaseId={card.databaseId}
        assetId={card.assetId}
        file={{ path: card.file, size: null }}
        picture={card.picture}
      />
    );
  }
  return (
    <div className="stage">
      <span className="poster">
        <Picture picture={card.picture} />
      </span>
    </div>
  );
}
