import type { UseQueryResult } from '@tanstack/react-query';
import { errorText } from '../api/errors';
import { texts } from '../texts';
import { dependentsTexts } from '../texts/dependents';
import { UserText } from './UserText';

const SHOWN = 8;

/** Names what will miss something that is about to be moved, hidden or deleted. */
export function Dependents(props: {
  query: UseQueryResult<readonly string[]>;
  title: (number: number) => string;
}) {
  const { data = [], error, isPending } = props.query;
  if (isPending) return <p className="faint">{dependentsTexts.checking}</p>;
  if (!error && !data.length) return null;
  return (
    <div className="notice" role="alert">
      <p>{error ? dependentsTexts.unknown(errorText(error)) : props.title(data.length)}</p>
      <ul>
        {data.slice(0, SHOWN).map((name) => (
          <li key={name}>
            <UserText text={name} />
          </li>
        ))}
      </ul>
      {data.length > SHOWN && <p>{texts.find.more(data.length - SHOWN)}</p>}
    </div>
  );
}
