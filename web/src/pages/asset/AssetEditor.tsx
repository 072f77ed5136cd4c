import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useId, useState, type ReactNode, type SyntheticEvent } from 'react';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { assetTexts } from '../../texts/asset';
import { editTexts } from '../../texts/edit';
import { uploadTexts } from '../../texts/upload';
import { TAG_FIELD, TagInput } from '../../ui/TagInput';
import { UserText } from '../../ui/UserText';
import { toast } from '../../ui/Toasts';
import { useFormError, type FieldProps } from '../../ui/useFormError';
import { useLatestState } from '../../ui/useLatestState';
import type { Place } from '../../api/downloads';
import { changedFields, toDraft, mergeDraft, saveAsset, type Draft, type Field } from './editAsset';
import { assetQuery, type Asset } from '../../api/assets';

const words = editTexts;

interface EditorProps {
  place: Place;
  asset: Asset;
  onClose: () => void;
}

/** Name, description and tags, edited in place. What was typed is kept whatever the server says. */
export function AssetEditor(props: EditorProps) {
  const id = useId();
  const { draft, stored, conflicts, change, resolve, submit, ...form } = useAssetDraft(props);
  const theirs = (field: Field) =>
    conflicts.includes(field) && (
      <ConflictNotice
        value={stored[field]}
        onTake={() => {
          change({ [field]: stored[field] });
          resolve(field);
        }}
      />
    );
  return (
    <form
      className="stack editor"
      onSubmit={(event) => void submit(event)}
      aria-label={words.title}
    >
      <h1>{words.title}</h1>
      {form.note && (
        <p className="notice" role="alert">
          {form.note}
        </p>
      )}
      <label htmlFor={`${id}-name`}>{uploadTexts.assetName}</label>
      <input
        id={`${id}-name`}
        dir="auto"
        maxLength={255}
        autoFocus
        {...form.fieldProps('assetName')}
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
        {...form.fieldProps('description')}
        value={draft.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      {theirs('description')}
      <TagsField
        databases={[props.place.databaseId]}
        fieldProps={form.fieldProps('tags')}
        selected={draft.tags}
        onChange={(tags) => change({ tags })}
      />
      {theirs('tags')}
      {form.message}
      <FormButtons disabled={!form.maySave} onCancel={props.onClose} />
    </form>
  );
}

/** What is typed of an asset, and how it is saved; what someone else has changed is merged. */
function useAssetDraft({ place, asset, onClose }: EditorProps) {
  const cache = useQueryClient();
  const [stored, setStored] = useState(asset);
  const [draft, show, latest] = useLatestState<Draft>(() => toDraft(asset));
  const [conflicts, setConflicts] = useState<Field[]>([]);
  const [state, setState] = useState({ busy: false, note: '' });
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const change = (next: Partial<Draft>) => show({ ...draft, ...next });
  const changed = changedFields(draft, stored);
  const leaving = () => changed.length > 0;
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      current.pathname !== next.pathname && leaving() && !confirm(words.leave),
    enableBeforeUnload: leaving,
  });
  const submit = async (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const wrong = validate(draft, new FormData(event.currentTarget).get(TAG_FIELD));
    setState({ busy: !wrong, note: '' });
    if (wrong) {
      showError(wrong.text, wrong.field);
      return;
    }
    clearError();
    try {
      const done = await saveAsset(place, stored, draft);
      if ('saved' in done) {
        cache.setQueryData(assetQuery(place).queryKey, done.saved);
        void cache.invalidateQueries({ queryKey: ['search'] });
        const isAll = !changedFields(latest.current, draft).length;
        toast(isAll ? words.saved : words.savedFirst);
        if (isAll) {
          onClose();
          return;
        }
        setStored(done.saved);
        setConflicts([]);
        setState({ busy: false, note: '' });
        return;
      }
      const next = mergeDraft(latest.current, stored, done.theirs);
      setStored(done.theirs);
      show(next.draft);
      setConflicts(next.conflicts);
      cache.setQueryData(assetQuery(place).queryKey, done.theirs);
      setState({ busy: false, note: next.conflicts.length ? words.both : words.other });
    } catch (error) {
      setState({ busy: false, note: '' });
      showApiError(error);
    }
  };
  return {
    draft,
    stored,
    conflicts,
    change,
    resolve: (field: Field) => setConflicts(conflicts.filter((other) => other !== field)),
    submit,
    note: state.note,
    maySave: !state.busy && changed.length > 0,
    fieldProps,
    message,
  };
}

/** The end of a form in which something is edited in place. */
export function FormButtons({ disabled, onCancel }: { disabled: boolean; onCancel: () => void }) {
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

/** What someone else has written meanwhile, beside what the user typed. */
export function ConflictNotice({
  value,
  onTake,
}: {
  value: string | string[];
  onTake: () => void;
}) {
  const shown = typeof value === 'string' ? value : value.join(', ') || assetTexts.noTags;
  return (
    <p className="theirs">
      <span className="faint">{words.theirs}</span> <UserText text={shown} />
      <button type="button" className="small" onClick={onTake}>
        {words.take}
      </button>
    </p>
  );
}

function TagsField(props: {
  databases: string[];
  fieldProps: ReturnType<FieldProps>;
  selected: string[];
  onChange: (tags: string[]) => void;
}): ReactNode {
  const { fieldProps, selected, onChange } = props;
  return (
    <>
      {selected.length > 0 && (
        <span className="tags" role="group" aria-label={assetTexts.tags}>
          {selected.map((tag) => (
            <button
              key={tag}
              type="button"
              className="chip"
              aria-label={words.removeTag(tag)}
              onClick={() => onChange(selected.filter((other) => other !== tag))}
            >
              <UserText text={tag} line /> ×
            </button>
          ))}
        </span>
      )}
      <TagInput
        label={words.addTag}
        act={words.add}
        databases={props.databases}
        except={selected}
        fieldProps={fieldProps}
        onChoose={(tag) => onChange([...new Set([...selected, tag])])}
      />
    </>
  );
}

function validate(draft: Draft, tag: unknown): { text: string; field: Field } | null {
  const { required, assetName, shortDescription } = uploadTexts;
  if (!draft.assetName.trim()) return { text: required(assetName), field: 'assetName' };
  const short = draft.description.trim().length < 4;
  if (short) return { text: shortDescription, field: 'description' };
  const typed = typeof tag === 'string' ? tag.trim() : '';
  return typed ? { text: words.notAdded(visibleName(typed)), field: 'tags' } : null;
}
