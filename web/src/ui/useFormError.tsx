import { useEffect, useId, useRef, useState } from 'react';
import { errorFields, errorText } from '../api/errors';

/** Why a form was not accepted, and the names of the fields that this is about. */
interface FormError {
  text: string;
  fields: readonly string[];
}

const NONE: FormError = { text: '', fields: [] };

/** What a wrong field says of itself. */
export type FieldProps = (
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
export function useFormError() {
  const id = useId();
  const message = useRef<HTMLParagraphElement>(null);
  const [error, setError] = useState(NONE);
  useEffect(() => {
    if (!error.text) return;
    const form = message.current?.closest('form');
    form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);
  const fieldProps: FieldProps = (field, help) => {
    const wrong = error.fields.includes(field);
    const described = [wrong && id, help].filter(Boolean).join(' ');
    return { 'aria-invalid': wrong || undefined, 'aria-describedby': described || undefined };
  };
  return {
    fieldProps,
    showError: (text: string, ...fields: string[]) => setError({ text, fields }),
    /** Shows what the server says; the form may have another name for a field of the API. */
    showApiError: (error: unknown, names: Readonly<Record<string, string>> = {}) =>
      setError({
        text: errorText(error),
        fields: errorFields(error).map((field) => names[field] ?? field),
      }),
    clearError: () => setError(NONE),
    message: (
      <p ref={message} id={id} role="alert" className="failure">
        {error.text}
      </p>
    ),
  };
}
