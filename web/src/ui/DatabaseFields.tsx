import type { NewDatabase } from '../api/databases';
import { uploadTexts } from '../texts/upload';
import type { FieldProps } from './useFormError';

const DATABASE_NAME = /^[-_a-zA-Z0-9]{3,63}$/;

/** What is wrong with a new database, with the field that it is about. */
export function validateDatabase(draft: NewDatabase): { text: string; field: string } | null {
  if (!DATABASE_NAME.test(draft.name))
    return { text: uploadTexts.databaseNameHelp, field: 'databaseId' };
  const short = draft.description.trim().length < 4;
  return short ? { text: uploadTexts.shortDescription, field: 'databaseText' } : null;
}

/** The name and description of a database that is created. */
export function DatabaseFields(props: {
  id: string;
  draft: NewDatabase;
  fieldProps: FieldProps;
  onChange: (draft: NewDatabase) => void;
}) {
  const { id, draft, fieldProps, onChange } = props;
  return (
    <>
      <label htmlFor={`${id}-database`}>{uploadTexts.databaseName}</label>
      <input
        id={`${id}-database`}
        maxLength={63}
        {...fieldProps('databaseId', `${id}-database-help`)}
        value={draft.name}
        onChange={(event) => onChange({ ...draft, name: event.target.value })}
      />
      <p id={`${id}-database-help`} className="help">
        {uploadTexts.databaseNameHelp}
      </p>
      <label htmlFor={`${id}-database-text`}>{uploadTexts.databaseText}</label>
      <input
        id={`${id}-database-text`}
        maxLength={256}
        {...fieldProps('databaseText')}
        value={draft.description}
        onChange={(event) => onChange({ ...draft, description: event.target.value })}
      />
    </>
  );
}
