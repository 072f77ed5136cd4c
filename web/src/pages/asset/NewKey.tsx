import { metadataTexts } from '../../texts/metadata';
import { KeyInput } from '../../ui/KeyInput';
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
  return (
    <>
      <label htmlFor={`${id}-key`}>{words.key}</label>
      <KeyInput
        id={`${id}-key`}
        autoFocus
        {...props.attributes}
        value={keyName}
        onChange={(event) => onChange({ key: event.target.value })}
      />
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
