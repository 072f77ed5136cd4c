import { useQuery } from '@tanstack/react-query';
import { hasSuggestions, suggestionsQuery } from '../../api/search';
import { metadataTexts } from '../../texts/metadata';
import { toValueType, VALUE_TYPES, type ValueType } from './metadataQueries';
import type { FieldAttributes } from './ValueInput';

const words = metadataTexts;

/** The name of a new key and the type of its values. */
export function NewKey(props: {
  id: string;
  keyName: string;
  type: ValueType;
  attributes?: FieldAttributes;
  onChange: (next: { key?: string; type?: ValueType }) => void;
}) {
  const { id, keyName, onChange } = props;
  // Keys that other assets have: two names for one thing are not found together.
  const keys = useQuery({ ...suggestionsQuery(keyName), enabled: hasSuggestions(keyName) });
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
        {...props.attributes}
        value={keyName}
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
        value={props.type}
        onChange={(event) => onChange({ type: toValueType(event.target.value) })}
      >
        {VALUE_TYPES.map((type) => (
          <option key={type} value={type}>
            {words.types[type]}
          </option>
        ))}
      </select>
    </>
  );
}
