import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useId, useRef, useState, type ReactNode, type SyntheticEvent } from 'react';
import { tags as tagsOfServer } from '../../api/queries';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { editTexts } from '../../texts/edit';
import { uploadTexts } from '../../texts/upload';
import { Failed } from '../../ui/Failed';
import { Name } from '../../ui/Name';
import { say } from '../../ui/Toasts';
import { useRefusal, type Marks } from '../../ui/useRefusal';
import type { Place } from '../../viewer/sources';
import { changedFields, draftOf, merged, save, type Draft, type Field } from './edit';
import { assetOf, type Asset } from './queries';

const words = editTexts;

/** Name, description and tags, edited in place. What was typed is kept whatever the server says. */
export function Editor(props: { place: Place; asset: Asset; onClose: () => void }) {
  const { place, asset, onClose } = props;
  const id = useId();
  const cache = useQueryClient();
  const [stored, setStored] = useState(asset);
  const [draft, setDraft] = useState<Draft>(() => draftOf(asset));
  const [conflicts, setConflicts] = useState<Field[]>([]);
  const [state, setState] = useState({ busy: false, note: '' });
  const { marks, refuse, refuseBy, accept, message } = useRefusal();
  // As it is once a save has ended: on a slow network, people go on typing meanwhile.
  const latest = useRef(draft);
  const show = (next: Draft) => {
    latest.current = next;
    setDraft(next);
  };
  const change = (next: Partial<Draft>) => show({ ...draft, ...next });
  const changed = changedFields(draft, stored);
  const leaving = () => changed.length > 0;
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && leaving() && !confirm(words.leave),
    enableBeforeUnload: leaving,
  });
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const wrong = refusal(draft);
    setState({ busy: !wrong, note: '' });
    if (wrong) {
      refuse(wrong.text, wrong.field);
      return;
    }
    accept();
    try {
      const done = await save(place, stored, draft);
      if ('saved' in done) {
        cache.setQueryData(assetOf(place).queryKey, done.saved);
        void cache.invalidateQueries({ queryKey: ['search'] });
        const isAll = !changedFields(latest.current, draft).length;
        say(isAll ? words.saved : words.savedFirst);
        if (isAll) {
          onClose();
          return;
        }
        setStored(done.saved);
        setConflicts([]);
        setState({ busy: false, note: '' });
        return;
      }
      const next = merged(latest.current, stored, done.theirs);
      setStored(done.theirs);
      show(next.draft);
      setConflicts(next.conflicts);
      cache.setQueryData(assetOf(place).queryKey, done.theirs);
      setState({ busy: false, note: next.conflicts.length ? words.both : words.other });
    } catch (error) {
      setState({ busy: false, note: '' });
      refuseBy(error);
    }
  };
  const theirs = (field: Field) =>
    conflicts.includes(field) && (
      <Theirs
        value={stored[field]}
        onTake={() => {
          change({ [field]: stored[field] });
          setConflicts(conflicts.filter((each) => each !== field));
        }}
      />
    );
  return (
    <form
      className="stack editor"
      onSubmit={(event) => void submit(event)}
      aria-label={words.title}
    >
      {state.note && (
        <p className="notice" role="alert">
          {state.note}
        </p>
      )}
      <label htmlFor={`${id}-name`}>{uploadTexts.assetName}</label>
      <input
        id={`${id}-name`}
        dir="auto"
        maxLength={255}
        autoFocus
        {...marks('assetName')}
        value={draft.assetName}
        onChange={(event) => change({ assetName: event.target.value })}
      />
      {theirs('assetName')}
      <label htmlFor={`${id}-text`}>{uploadTexts.description}</label>
      <textarea
        id={`${id}-text`}
        dir="auto"
        rows={4}
        maxLength={256}
        {...marks('description')}
        value={draft.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      {theirs('description')}
      <Tags
        id={`${id}-tags`}
        marks={marks('tags')}
        chosen={draft.tags}
        onChange={(tags) => change({ tags })}
      />
      {theirs('tags')}
      {message}
      <SaveOrCancel disabled={state.busy || !changed.length} onCancel={onClose} />
    </form>
  );
}

/** The end of a form in which something is edited in place. */
export function SaveOrCancel({ disabled, onCancel }: { disabled: boolean; onCancel: () => void }) {
  return (
    <div className="acts">
      <button type="submit" className="primary" disabled={disabled}>
        {words.save}
      </button>
      <button type="button" onClick={onCancel}>
        {texts.cancel}
      </button>
    </div>
  );
}

/** What somebody else has written meanwhile, beside what the user typed. */
export function Theirs({ value, onTake }: { value: string | string[]; onTake: () => void }) {
  const shown = typeof value === 'string' ? value : value.join(', ') || assetTexts.noTags;
  return (
    <p className="theirs">
      <span className="faint">{words.theirs}</span> <Name text={shown} />
      <button type="button" className="small" onClick={onTake}>
        {words.take}
      </button>
    </p>
  );
}

function Tags(props: {
  id: string;
  marks: ReturnType<Marks>;
  chosen: string[];
  onChange: (tags: string[]) => void;
}): ReactNode {
  const { id, marks, chosen, onChange } = props;
  const known = useQuery(tagsOfServer);
  const others = known.data?.filter((each) => !chosen.includes(each)) ?? [];
  return (
    <>
      <label htmlFor={id}>{assetTexts.tags}</label>
      {chosen.length > 0 && (
        <span className="tags">
          {chosen.map((tag) => (
            <button
              key={tag}
              type="button"
              className="chip"
              aria-label={words.removeTag(tag)}
              onClick={() => onChange(chosen.filter((each) => each !== tag))}
            >
              <Name text={tag} line /> ×
            </button>
          ))}
        </span>
      )}
      <select
        id={id}
        {...marks}
        value=""
        disabled={!others.length}
        onChange={(event) => onChange([...chosen, event.target.value])}
      >
        <option value="">{known.data && !others.length ? words.noTags : words.addTag}</option>
        {others.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <Failed found={known} />
    </>
  );
}

function refusal(draft: Draft): { text: string; field: Field } | null {
  const { required, assetName, shortDescription } = uploadTexts;
  if (!draft.assetName.trim()) return { text: required(assetName), field: 'assetName' };
  const short = draft.description.trim().length < 4;
  return short ? { text: shortDescription, field: 'description' } : null;
}
