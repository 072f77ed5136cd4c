import { createStore, useStore } from '../../api/createStore';
import type { Card } from '../../api/hits';
import { session } from '../../session/session';

type Selection = ReadonlyMap<string, Card>;
const NONE: Selection = new Map();

/** Outside of the page of searches, so that it remains while an asset is open. */
const selection = createStore(NONE);
let { generation } = session.current();
session.subscribe(() => {
  // The next user starts with nothing selected.
  if (session.current().generation !== generation) selection.set(NONE);
  ({ generation } = session.current());
});

function select(cards: readonly Card[]): void {
  const after = new Map(selection.current());
  const [first] = cards;
  // A click toggles one asset; with shift, it selects the whole range.
  if (cards.length !== 1 || !first || !after.delete(first.id)) {
    cards.forEach((card) => after.set(card.id, card));
  }
  selection.set(after);
}

const setSelection = (cards: readonly Card[]): void =>
  selection.set(new Map(cards.map((card) => [card.id, card])));

/** The selected assets by id; `select` toggles one asset, or adds several. */
export const useSelection = () => ({ selection: useStore(selection), setSelection, select });
