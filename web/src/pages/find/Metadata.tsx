import { useId, useState, type SyntheticEvent } from 'react';
import { texts } from '../../texts';
import { useRefusal } from '../../ui/useRefusal';
import { OPS, type Condition, type FindState, type Op } from './state';

/** Conditions on any metadata key: equality, existence, bounds of numbers and dates. */
export function Metadata({
  state,
  change,
}: {
  state: FindState;
  change: (next: FindState) => void;
}) {
  const id = useId();
  const [draft, setDraft] = useState<Condition>({ key: '', op: 'eq', value: '' });
  const { marks, refuse, accept, message } = useRefusal();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const key = draft.key.trim();
    const { metadataKey, metadataValue } = texts.find;
    const { required } = texts.upload;
    if (!key) {
      refuse(required(metadataKey), 'key');
      return;
    }
    if (draft.op !== 'exists' && !draft.value) {
      refuse(required(metadataValue), 'value');
      return;
    }
    accept();
    const added = draft.op === 'exists' ? { key, op: draft.op } : { ...draft, key };
    change({ ...state, meta: [...(state.meta ?? []), added] });
    setDraft({ key: '', op: 'eq', value: '' });
  };
  return (
    <fieldset className="field">
      <legend>{texts.find.metadata}</legend>
      <form className="condition" onSubmit={submit}>
        <label htmlFor={`${id}-key`} className="hidden">
          {texts.find.metadataKey}
        </label>
        <input
          id={`${id}-key`}
          placeholder={texts.find.metadataKey}
          maxLength={256}
          {...marks('key')}
          value={draft.key}
          onChange={(event) => setDraft({ ...draft, key: event.target.value })}
        />
        <label htmlFor={`${id}-op`} className="hidden">
          {texts.find.metadataOp}
        </label>
        <select
          id={`${id}-op`}
          value={draft.op}
          onChange={(event) => setDraft({ ...draft, op: event.target.value as Op })}
        >
          {OPS.map((op) => (
            <option key={op} value={op}>
              {texts.find.ops[op]}
            </option>
          ))}
        </select>
        <label htmlFor={`${id}-value`} className="hidden">
          {texts.find.metadataValue}
        </label>
        <input
          id={`${id}-value`}
          placeholder={texts.find.metadataValue}
          disabled={draft.op === 'exists'}
          {...marks('value')}
          value={draft.op === 'exists' ? '' : draft.value}
          onChange={(event) => setDraft({ ...draft, value: event.target.value })}
        />
        <button type="submit">{texts.find.add}</button>
        {message}
      </form>
    </fieldset>
  );
}
