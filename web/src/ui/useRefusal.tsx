import { useEffect, useId, useRef, useState } from 'react';
import { fieldsOf, sentence } from '../api/errors';

/** Why a form was not accepted, and the names of the fields that this is about. */
export interface Refusal {
  text: string;
  fields: readonly string[];
}

const NONE: Refusal = { text: '', fields: [] };

/** What a wrong field says of itself. */
export type Marks = (
  field: string,
  help?: string,
) => {
  'aria-invalid': true | undefined;
  'aria-describedby': string | undefined;
};

/**
 * The refusal of a form: one sentence, which each wrong field names as its description. The focus
 * goes to the first of them.
 */
export function useRefusal() {
  const id = useId();
  const message = useRef<HTMLParagraphElement>(null);
  const [refusal, setRefusal] = useState(NONE);
  useEffect(() => {
    if (!refusal.text) return;
    const form = message.current?.closest('form');
    form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [refusal]);
  const marks: Marks = (field, help) => {
    const wrong = refusal.fields.includes(field);
    const described = [wrong && id, help].filter(Boolean).join(' ');
    return { 'aria-invalid': wrong || undefined, 'aria-describedby': described || undefined };
  };
  return {
    marks,
    refuse: (text: string, ...fields: string[]) => setRefusal({ text, fields }),
    /** Shows what the server says; the form may have another name for a field of the API. */
    refuseBy: (error: unknown, names: Readonly<Record<string, string>> = {}) =>
      setRefusal({
        text: sentence(error),
        fields: fieldsOf(error).map((each) => names[each] ?? each),
      }),
    accept: () => setRefusal(NONE),
    message: (
      <p ref={message} id={id} role="alert" className="failure">
        {refusal.text}
      </p>
    ),
  };
}
