import { texts } from '../../texts';
import { metadataTexts } from '../../texts/metadata';
import { DateInput } from '../../ui/DateInput';
import type { ValueType } from './metadataQueries';

const words = metadataTexts;
const DAY = /^(\d{4}-\d\d-\d\d)?$/;

export interface FieldAttributes {
  'aria-invalid'?: true | undefined;
  'aria-describedby'?: string | undefined;
  'aria-label'?: string | undefined;
  placeholder?: string | undefined;
  disabled?: boolean | undefined;
  autoFocus?: boolean | undefined;
  name?: string | undefined;
}

interface ValueInputProps {
  id: string;
  type: ValueType;
  value: string;
  /** The stored value. */
  before?: string | undefined;
  /** The only values that a schema allows. */
  choices?: readonly string[] | undefined;
  attributes?: FieldAttributes;
  onChange: (value: string) => void;
}

/** The field of a value by its type; a value that a field of its type cannot show is text. */
export function ValueInput(props: ValueInputProps) {
  const { id, type, value, onChange } = props;
  const field = {
    id,
    value,
    ...props.attributes,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  const choices = choicesOf(props);
  if (choices) {
    return (
      <select {...field}>
        <option value="">{props.attributes?.placeholder ?? words.noValue}</option>
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
      const isDay = [props.before ?? '', value].every((text) => DAY.test(text));
      return isDay ? <DateInput {...field} onChange={onChange} /> : <input {...field} />;
    }
    case 'string':
    case 'boolean':
    case 'inline_controlled_list':
      return <input {...field} dir="auto" />;
    case 'multiline_string':
      return <textarea {...field} dir="auto" rows={4} />;
    default:
      return <textarea placeholder={words.examples[type]} {...field} rows={2} spellCheck={false} />;
  }
}

/** The values that a select offers, with their names; null for a field in which one types. */
function choicesOf({
  type,
  value,
  choices,
}: ValueInputProps): (readonly [string, string])[] | null {
  if (type === 'boolean' && ['', 'true', 'false'].includes(value))
    return [
      ['true', texts.find.yes],
      ['false', texts.find.no],
    ];
  return choices?.length ? choices.map((choice) => [choice, choice] as const) : null;
}
