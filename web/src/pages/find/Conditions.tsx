import { useId, useState, type SyntheticEvent } from 'react';
import { texts } from '../../texts';
import { filtersTexts } from '../../texts/filters';
import { uploadTexts } from '../../texts/upload';
import { FACTS, factByKey, type FactType } from '../../ui/facts';
import { useFormError, type FieldProps } from '../../ui/useFormError';
import { opsOf, problemOf } from './conditionFilters';
import { OPS, type Condition, type Op } from './findState';
import type { ChangeSearch } from './useChangeSearch';

const words = filtersTexts;
const METADATA = '';
const EMPTY: Draft = { fact: METADATA, key: '', op: 'eq', value: '' };

/** The key of a fact that was chosen, or metadata, whose key is typed. */
interface Draft extends Required<Condition> {
  fact: string;
}

/** Conditions on any fact or metadata key: equality, existence, bounds of numbers and dates. */
export function Conditions({ change }: { change: ChangeSearch }) {
  const id = useId();
  const [draft, setDraft] = useState(EMPTY);
  const { fieldProps, showError, clearError, message } = useFormError();
  const key = draft.fact || draft.key.trim();
  const type = factByKey(key)?.type;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const { required } = uploadTexts;
    const { op, value } = draft;
    const added = op === 'exists' ? { key, op } : { key, op, value };
    const problem = key ? problemOf(added) : required(words.metadataKey);
    if (!key || words.noFact(key) === problem) showError(problem ?? '', 'key');
    else if (op !== 'exists' && !value) showError(required(words.metadataValue), 'value');
    else if (problem) showError(problem, opsOf(type).includes(op) ? 'value' : 'op');
    else {
      clearError();
      change((before) => ({ ...before, meta: [...(before.meta ?? []), added] }));
      setDraft(EMPTY);
    }
  };
  return (
    <fieldset className="field">
      <legend>{words.conditions}</legend>
      <form className="condition" onSubmit={submit}>
        <KeyFields id={id} draft={draft} fieldProps={fieldProps} onChange={setDraft} />
        <label htmlFor={`${id}-op`} className="hidden">
          {words.metadataOp}
        </label>
        <select
          id={`${id}-op`}
          value={draft.op}
          {...fieldProps('op')}
          onChange={(event) => setDraft({ ...draft, op: event.target.value as Op })}
        >
          {/* Of a typed key the type is known only later: what does not apply is refused. */}
          {(draft.fact ? opsOf(type) : OPS).map((op) => (
            <option key={op} value={op}>
              {words.ops[op]}
            </option>
          ))}
        </select>
        <label htmlFor={`${id}-value`} className="hidden">
          {words.metadataValue}
        </label>
        <Value
          id={`${id}-value`}
          type={type}
          draft={draft}
          fieldProps={fieldProps}
          onChange={(value) => setDraft({ ...draft, value })}
        />
        <button type="submit">{words.add}</button>
        {message}
      </form>
    </fieldset>
  );
}

/** A fact that is chosen, or metadata by its key. */
function KeyFields(props: {
  id: string;
  draft: Draft;
  fieldProps: FieldProps;
  onChange: (draft: Draft) => void;
}) {
  const { id, draft, fieldProps, onChange } = props;
  return (
    <>
      <label htmlFor={`${id}-on`} className="hidden">
        {words.conditionOn}
      </label>
      <select
        id={`${id}-on`}
        className="wide"
        value={draft.fact}
        onChange={({ target }) => onChange({ ...EMPTY, key: draft.key, fact: target.value })}
      >
        <option value={METADATA}>{words.metadata}</option>
        <optgroup label={words.facts}>
          {FACTS.map((fact) => (
            <option key={fact.key} value={fact.key}>
              {fact.label}
            </option>
          ))}
        </optgroup>
      </select>
      {draft.fact === METADATA && (
        <>
          <label htmlFor={`${id}-key`} className="hidden">
            {words.metadataKey}
          </label>
          <input
            id={`${id}-key`}
            className="wide"
            placeholder={words.metadataKey}
            maxLength={256}
            {...fieldProps('key')}
            value={draft.key}
            onChange={(event) => onChange({ ...draft, key: event.target.value })}
          />
        </>
      )}
    </>
  );
}

function Value(props: {
  id: string;
  type: FactType | undefined;
  draft: Draft;
  fieldProps: FieldProps;
  onChange: (value: string) => void;
}) {
  const { id, type, draft, fieldProps, onChange } = props;
  const inputProps = {
    id,
    disabled: draft.op === 'exists',
    ...fieldProps('value'),
    value: draft.op === 'exists' ? '' : draft.value,
  };
  if (type === 'boolean') {
    return (
      <select {...inputProps} onChange={(event) => onChange(event.target.value)}>
        <option value="">{words.metadataValue}</option>
        <option value="true">{texts.find.yes}</option>
        <option value="false">{texts.find.no}</option>
      </select>
    );
  }
  return (
    <input
      {...inputProps}
      type={type === 'date' ? 'date' : 'text'}
      inputMode={type === 'number' ? 'decimal' : undefined}
      placeholder={words.metadataValue}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
