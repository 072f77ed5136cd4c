import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { archiveAsset, restoreAsset } from '../../api/archiving';
import { errorText } from '../../api/errors';
import type { Permissions } from '../../api/queries';
import { texts } from '../../texts';
import { compareTexts } from '../../texts/compare';
import { compareNames, formatNumber } from '../../texts/formats';
import { selectionTexts } from '../../texts/selection';
import { sheetTexts } from '../../texts/sheet';
import { TagInput } from '../../ui/TagInput';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { UserText } from '../../ui/UserText';
import { fileKind } from '../../ui/fileKinds';
import { toast } from '../../ui/Toasts';
import { ArchiveDialog } from '../asset/ArchiveDialog';
import { encodeCompared } from '../compare/comparedFile';
import { DownloadDialog } from './DownloadDialog';
import type { Card } from '../../api/hits';
import { RunDialog } from './RunDialog';
import { addTag, removeTag } from './tagging';

type Act = (card: Card) => Promise<void>;
/** Does something with these cards, and says so; `undo` gets those with which it is done. */
type RunAct = (
  act: Act,
  finished: (number: number) => string,
  these?: Card[],
  undo?: (done: Card[]) => void,
) => Promise<void>;
type SelectionDialog = 'download' | 'tag' | 'untag' | 'run' | 'archive';

/** The acts that the user may do with these assets, with their names. */
function allowedActions(may: Permissions, cards: readonly Card[]): [SelectionDialog, string][] {
  const acts: [SelectionDialog, string, boolean][] = [
    ['download', texts.download, may.download],
    ['tag', selectionTexts.tag, may.change],
    ['untag', selectionTexts.untag, may.change && cards.some((card) => card.tags.length > 0)],
    ['run', selectionTexts.run, may.run],
    ['archive', selectionTexts.archive, may.change && !cards.every((card) => card.isArchived)],
  ];
  return acts.flatMap(([act, name, allowed]) => (allowed ? [[act, name]] : []));
}

/** What can be done with the selected assets, one after the other. */
export function SelectionBar(props: {
  cards: Card[];
  shown: Card[];
  total: number;
  may: Permissions;
  onChange: (cards: Card[]) => void;
}) {
  const { cards, shown, may, onChange } = props;
  const cache = useQueryClient();
  const bar = useRef<HTMLDivElement>(null);
  const [done, setDone] = useState<number | null>(null);
  const [openDialog, setOpenDialog] = useState<SelectionDialog | null>(null);
  const title = texts.find.selected(cards.length);
  const archived = cards.filter((card) => card.isArchived);
  const active = cards.filter((card) => !card.isArchived);
  const run: RunAct = async (act, finished, these = cards, undo) => {
    setOpenDialog(null);
    const { failed, failure } = await actOnEach(these, act, setDone);
    setDone(null);
    void cache.invalidateQueries({ queryKey: ['search'] });
    const number = these.length - failed.length;
    // What failed stays selected, so that it can be tried again.
    onChange(failed);
    // The button that had the focus disappears with the selection; on another page it is elsewhere.
    if (!failed.length && bar.current) document.getElementById('content')?.focus();
    const names = failed.map((card) => card.name);
    const done = these.filter((card) => !failed.includes(card));
    toast(
      failed.length ? selectionTexts.failed(number, names, errorText(failure)) : finished(number),
      undo && done.length ? { name: texts.undo, act: () => undo(done) } : undefined,
    );
  };
  const close = () => setOpenDialog(null);
  const restore = (these: Card[]) => void run(restoreAsset, selectionTexts.restored, these);
  return (
    <div ref={bar} className="selection" role="region" aria-label={title}>
      <strong role="status">
        {done === null ? title : selectionTexts.progress(done + 1, cards.length)}
      </strong>
      <button type="button" onClick={() => onChange(shown)} disabled={done !== null}>
        {texts.find.selectAll(shown.length, props.total)}
      </button>
      {allowedActions(may, cards).map(([act, name]) => (
        <button key={act} type="button" onClick={() => setOpenDialog(act)} disabled={done !== null}>
          {name}
        </button>
      ))}
      {may.change && active.length > 0 && (
        <Link to="/metadata" className="button" preload={false}>
          {sheetTexts.edit}
        </Link>
      )}
      <CompareLink cards={cards} />
      {may.change && archived.length > 0 && (
        <button type="button" onClick={() => restore(archived)} disabled={done !== null}>
          {selectionTexts.restore}
        </button>
      )}
      <button type="button" onClick={() => onChange([])} disabled={done !== null}>
        {texts.find.clearSelection}
      </button>
      {openDialog === 'download' && <DownloadDialog cards={cards} onClose={close} />}
      {openDialog === 'run' && <RunDialog cards={cards} onClose={close} />}
      <TagDialogs openDialog={openDialog} cards={cards} run={run} onClose={close} />
      {openDialog === 'archive' && (
        <ArchiveDialog
          assets={active}
          onClose={close}
          onConfirm={() => void run(archiveAsset, selectionTexts.archived, active, restore)}
        />
      )}
    </div>
  );
}

/** Leads to the models of two assets side by side. */
function CompareLink({ cards }: { cards: readonly Card[] }) {
  const files = cards.flatMap(({ file, ...place }) =>
    file && fileKind(file) === 'model' ? [encodeCompared({ ...place, path: file })] : [],
  );
  if (cards.length !== 2 || files.length !== 2) return null;
  return (
    <Link
      to="/compare"
      search={{ left: files[0], right: files[1] }}
      className="button"
      preload={false}
    >
      {compareTexts.open}
    </Link>
  );
}

/** Does something with one asset after the other; returns those that it failed with, and why. */
async function actOnEach(cards: readonly Card[], act: Act, onStart: (at: number) => void) {
  const failed: Card[] = [];
  let failure: unknown = null;
  for (const [at, card] of cards.entries()) {
    onStart(at);
    try {
      await act(card);
    } catch (error) {
      failed.push(card);
      failure = error;
    }
  }
  return { failed, failure };
}

function TagDialogs(props: {
  openDialog: SelectionDialog | null;
  cards: Card[];
  run: RunAct;
  onClose: () => void;
}) {
  const { openDialog, cards, run, onClose } = props;
  if (openDialog === 'tag')
    return (
      <TagDialog
        databases={cards.map((card) => card.databaseId)}
        onClose={onClose}
        onChoose={(tag) => void run((card) => addTag(card, tag), selectionTexts.tagged(tag))}
      />
    );
  if (openDialog === 'untag')
    return (
      <UntagDialog
        cards={cards}
        onClose={onClose}
        onChoose={(tag, these) =>
          void run((card) => removeTag(card, tag), selectionTexts.untagged(tag), these)
        }
      />
    );
  return null;
}

function TagDialog(props: {
  databases: string[];
  onClose: () => void;
  onChoose: (tag: string) => void;
}) {
  return (
    <Dialog title={selectionTexts.tag} onClose={props.onClose}>
      <div className="stack">
        <TagInput
          label={selectionTexts.tagName}
          act={selectionTexts.tag}
          databases={props.databases}
          onChoose={props.onChoose}
        />
        <div className="acts">
          <CloseButton />
        </div>
      </div>
    </Dialog>
  );
}

/** The tags of the selected assets; the one that is pressed is removed from those that have it. */
function UntagDialog({
  cards,
  onClose,
  onChoose,
}: {
  cards: Card[];
  onClose: () => void;
  onChoose: (tag: string, these: Card[]) => void;
}) {
  const tags = [...new Set(cards.flatMap((card) => card.tags))].sort(compareNames);
  return (
    <Dialog title={selectionTexts.untag} onClose={onClose}>
      <ul className="names" tabIndex={0}>
        {tags.map((tag) => {
          const these = cards.filter((card) => card.tags.includes(tag));
          return (
            <li key={tag}>
              <button type="button" onClick={() => onChoose(tag, these)}>
                <UserText text={tag} /> ({formatNumber(these.length)})
              </button>
            </li>
          );
        })}
      </ul>
      <div className="acts">
        <CloseButton first />
      </div>
    </Dialog>
  );
}
