import { useId } from 'react';
import { visibleName } from '../../texts/formats';
import { metadataTexts } from '../../texts/metadata';
import { UserText } from '../../ui/UserText';
import { ConflictNotice } from './AssetEditor';
import { takeTheirs, type Row } from './metadataDraft';
import { typeOf } from './metadataQueries';
import { NewKey } from './NewKey';
import { ValueInput } from './ValueInput';

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
        <>
          <NewKey id={id} keyName={key} type={row.type} attributes={wrong} onChange={onChange} />
          <label htmlFor={id}>{words.value}</label>
        </>
      )}
      <div className="value">
        {isRemoved ? (
          <p className="faint">{words.isRemoved}</p>
        ) : (
          <ValueInput
            id={id}
            type={typeOf(row)}
            value={row.value}
            before={before?.value}
            choices={schema?.choices}
            attributes={{ ...(before || key ? wrong : {}), name: String(row.id) }}
            onChange={(value) => onChange({ value, type: typeOf(row) })}
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
