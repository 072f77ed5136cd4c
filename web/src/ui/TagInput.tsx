import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState, type KeyboardEvent } from 'react';
import { currentUserQuery, tagsQuery } from '../api/queries';
import { createTag, tagTypesQuery } from '../api/tags';
import { visibleName } from '../texts/formats';
import { tagTexts } from '../texts/tags';
import { InlineError } from './InlineError';
import { useFormError, type FieldProps } from './useFormError';

const words = tagTexts;
/** The name of the field in a form, in which a tag may have been typed and not added. */
export const TAG_FIELD = 'tag';
const NAME = /^[-._a-zA-Z0-9 ]{1,256}$/;

/** A tag by its name. One that does not exist is created here, where the user may do that. */
export function TagInput(props: {
  label: string;
  act: string;
  /** The databases of the assets that get the tag. */
  databases: string[];
  /** Those that need not be offered. */
  except?: readonly string[];
  fieldProps?: ReturnType<FieldProps>;
  onChoose: (tag: string) => void;
}) {
  const id = useId();
  const cache = useQueryClient();
  const tags = useQuery(tagsQuery(props.databases));
  const mayCreate = useQuery(currentUserQuery).data?.pages.has('/auth/tags') ?? false;
  const [typed, setTyped] = useState('');
  const [isNew, setNew] = useState(false);
  const { fieldProps, showError, clearError, message } = useFormError();
  const { fieldProps: outer, except = [] } = props;
  const name = typed.trim();
  const reset = () => {
    setNew(false);
    clearError();
  };
  const choose = (tag: string) => {
    reset();
    setTyped((now) => (now.trim() === tag ? '' : now));
    props.onChoose(tag);
  };
  const submit = async () => {
    const known = tags.data ?? (await tags.refetch()).data;
    if (!name || !known) return;
    if (known.includes(name)) choose(name);
    else if (!mayCreate) showError(words.unknown(visibleName(name)), 'tagName');
    else if (NAME.test(name)) setNew(true);
    else showError(words.invalid, 'tagName');
  };
  return (
    <>
      <label htmlFor={id}>{props.label}</label>
      <span className="acts">
        <input
          id={id}
          name={TAG_FIELD}
          dir="auto"
          maxLength={256}
          autoComplete="off"
          list={`${id}-tags`}
          {...fieldProps('tagName')}
          {...(outer?.['aria-invalid'] && outer)}
          value={typed}
          onKeyDown={onEnter(() => void submit())}
          onChange={(event) => {
            reset();
            setTyped(event.target.value);
          }}
        />
        <button type="button" disabled={!name} onClick={() => void submit()}>
          {props.act}
        </button>
      </span>
      <datalist id={`${id}-tags`}>
        {tags.data
          ?.filter((tag) => !except.includes(tag))
          .map((tag) => (
            <option key={tag}>{tag}</option>
          ))}
      </datalist>
      <InlineError query={tags} />
      {isNew && (
        <NewTag
          name={name}
          onCreated={() =>
            void cache.invalidateQueries({ queryKey: ['tags'] }).then(() => choose(name))
          }
        />
      )}
      {message}
    </>
  );
}

/** Acts on the Enter key, which would send the form around the field: that of the asset. */
const onEnter = (act: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  act();
};

/** The type of a tag that does not exist yet, which may be new, too. */
function NewTag({ name, onCreated }: { name: string; onCreated: () => void }) {
  const id = useId();
  const types = useQuery(tagTypesQuery);
  const [typed, setTyped] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const type = typed ?? types.data?.[0] ?? '';
  const create = async () => {
    if (!NAME.test(type)) {
      showError(words.invalidType, 'tagTypeName');
      return;
    }
    setBusy(true);
    clearError();
    try {
      await createTag(name, type, types.data ?? []);
      onCreated();
    } catch (error) {
      setBusy(false);
      showApiError(error);
    }
  };
  return (
    <fieldset className="stack">
      <legend>{words.isNew(visibleName(name))}</legend>
      <InlineError query={types} />
      <label htmlFor={`${id}-type`}>{words.type}</label>
      <input
        id={`${id}-type`}
        dir="auto"
        maxLength={256}
        autoComplete="off"
        list={`${id}-types`}
        {...fieldProps('tagTypeName')}
        value={type}
        onKeyDown={onEnter(() => void create())}
        onChange={(event) => setTyped(event.target.value)}
      />
      <datalist id={`${id}-types`}>
        {types.data?.map((known) => (
          <option key={known}>{known}</option>
        ))}
      </datalist>
      {message}
      <span className="acts">
        <button type="button" disabled={busy || !types.data} onClick={() => void create()}>
          {words.create}
        </button>
      </span>
    </fieldset>
  );
}
