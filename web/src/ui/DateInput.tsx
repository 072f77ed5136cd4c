import { useState, type ComponentProps } from 'react';

interface DateInputProps extends Omit<ComponentProps<'input'>, 'type' | 'onChange'> {
  value: string;
  onChange: (value: string) => void;
}

/** The field of a day. While a part of it is missing, its value remains what it was before. */
export function DateInput({ value, onChange, ...attributes }: DateInputProps) {
  // The value that the person is typing over; '' as the input reports it would take its parts away.
  const [partial, setPartial] = useState<string | null>(null);
  return (
    <input
      {...attributes}
      type="date"
      value={partial === value ? '' : value}
      onChange={({ target }) => {
        const isPartial = target.validity.badInput;
        setPartial(isPartial ? value : null);
        if (!isPartial) onChange(target.value);
      }}
    />
  );
}
