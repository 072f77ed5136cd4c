import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { hasSuggestions, suggestionsQuery } from '../../api/search';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { metadataTexts } from '../../texts/metadata';
import { UserText } from '../../ui/UserText';
import { ConflictNotice } from './AssetEditor';
import { takeTheirs, type Row } from './metadataDraft';
import { toValueType, VALUE_TYPES } from './metadataQueries';

const words = metadataTexts;

interface RowProps {
  row: Row;
  /** What is wrong with it. */
  refusal: string | undefined;
  /** Null if a new key is removed again. */
  onChange: (next: Partial<Row> | null) => void;
}

/** A key and its value, with what is wrong and what others have written. */
export function MetadataRow({ row, refusal, onChange }: RowProps) {
  const id = useId();
  const { key, before, schema, theirs, isRemoved } = row;
  const name = visibleName(key);
  const described = [refusal && `${id}-wrong`, schema?.dependsOn.length && `${id}-needs`];
  const wrong = {
    'aria-invalid': refusal !== undefined || undefined,
    'aria-describedby': described.filter(Boolean).join(' ') || undefined,
  };
  return (
    <div className="record" {...(before ? {} : { role: 'group', 'aria-label': words.newKey })}>
      {before ? (
        <label htmlFor={id}>
          <UserText text={schema?.isRequired ? words.required(key) : key} />
        </label>
      ) : (
        <NewKey id={id} row={row} wrong={wrong} onChange={onChange} />
      )}
      <div className="value">
        {isRemoved ? (
          <p className="faint">{words.isRemoved}</p>
        ) : (
          <ValueInput
            id={id}
            row={row}
            props={before || key ? wrong : {}}
            onChange={(value) => onChange({ value })}
          />
        )}
        {isRemoved ? (
          <button
            type="button"
            className="small"
            onClick={() => onChange({ isRemoved: false })}
            {...wrong}
          >
            {words.keep(name)}
          </button>
        ) : (
          // A key of a schema can be emptied, and is offered again if it is removed.
          !schema && (
            <button
              type="button"
              className="quiet"
              aria-label={words.remove(name)}
              onClick={() => onChange(before ? { isRemoved: true } : null)}
            >
              ×
            </button>
          )
        )}
      </div>
      {schema && schema.dependsOn.length > 0 && (
        <p id={`${id}-needs`} className="help">
          {words.dependsOn(schema.dependsOn.map(visibleName))}
        </p>
      )}
      {theirs && (
        <ConflictNotice
          value={theirs.value ?? words.theirsRemoved}
          onTake={() => onChange(takeTheirs(row))}
        />
      )}
      {refusal && (
        <p id={`${id}-wrong`} className="failure" role="alert">
          {refusal}
        </p>
      )}
    </div>
  );
}

interface FieldAttributes {
  'aria-invalid'?: true | undefined;
  'aria-describedby'?: string | undefined;
}

function NewKey(props: {
  id: string;
  row: Row;
  wrong: FieldAttributes;
  onChange: (next: Partial<Row>) => void;
}) {
  const { id, row, onChange } = props;
  // Keys that other assets have: two names for one thing are not found together.
  const keys = useQuery({ ...suggestionsQuery(row.key), enabled: hasSuggestions(row.key) });
  return (
    <>
      <label htmlFor={`${id}-key`}>{words.key}</label>
      <input
        id={`${id}-key`}
        dir="auto"
        maxLength={256}
        autoFocus
        autoComplete="off"
        list={`${id}-keys`}
        {...props.wrong}
        value={row.key}
        onChange={(event) => onChange({ key: event.target.value })}
      />
      <datalist id={`${id}-keys`}>
        {keys.data?.suggestions
          .filter(({ kind }) => kind === 'key')
          .map(({ text }) => (
            <option key={text} value={text} />
          ))}
      </datalist>
      <label htmlFor={`${id}-type`}>{words.type}</label>
      <select
        id={`${id}-type`}
        value={row.type}
        onChange={(event) => onChange({ type: toValueType(event.target.value) })}
      >
        {VALUE_TYPES.map((type) => (
          <option key={type} value={type}>
            {words.types[type]}
          </option>
        ))}
      </select>
      <label htmlFor={id}>{words.value}</label>
    </>
  );
}

const DAY = /^(\d{4}-\d\d-\d\d)?$/;

/** The field of a value by its type; a value that a field of its type cannot show is text. */
function ValueInput(props: {
  id: string;
  row: Row;
  props: FieldAttributes;
  onChange: (value: string) => void;
}) {
  const { id, row, onChange } = props;
  const { type, value } = row;
  const field = {
    id,
    value,
    ...props.props,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  const choices = choicesOf(row);
  if (choices) {
    return (
      <select {...field}>
        <option value="">{words.noValue}</option>
        {!choices.some(([choice]) => choice === value) && value && <option>{value}</option>}
        {choices.map(([choice, name]) => (
          <option key={choice} value={choice}>
            {name}
          </option>
        ))}
      </select>
    );
  }
  switch (type) {
    case 'number':
      return <input {...field} inputMode="decimal" autoComplete="off" />;
    case 'date': {
      // A date with a time is text, also while it is typed.
      const isDay = [row.before?.value ?? '', value].every((text) => DAY.test(text));
      return <input {...field} type={isDay ? 'date' : 'text'} />;
    }
    case 'string':
    case 'boolean':
    case 'inline_controlled_list':
      return <input {...field} dir="auto" />;
    case 'multiline_string':
      return <textarea {...field} dir="auto" rows={4} />;
    default:
      return <textarea {...field} rows={2} spellCheck={false} placeholder={words.examples[type]} />;
  }
}

/** The values that a select offers, with their names; null for a field in which one types. */
function choicesOf({ type, value, schema }: Row): (readonly [string, string])[] | null {
  if (type === 'boolean' && ['', 'true', 'false'].includes(value))
    return [
      ['true', texts.find.yes],
      ['false', texts.find.no],
    ];
  return schema?.choices.length ? schema.choices.map((choice) => [choice, choice] as const) : null;
}
