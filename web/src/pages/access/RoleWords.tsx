import { useQuery } from '@tanstack/react-query';
import { visibleName } from '../../texts/formats';
import { accessTexts } from '../../texts/access';
import { InlineError } from '../../ui/InlineError';
import { ADMINISTRATOR, rulesQuery } from './queries';
import { sentencesOf } from './ruleWords';

const words = accessTexts;

/** What a role allows, a sentence a rule. */
export function RoleWords({ role }: { role: string }) {
  const rules = useQuery(rulesQuery);
  if (rules.isError) return <InlineError query={rules} />;
  if (rules.data === undefined) return null;
  if (role === ADMINISTRATOR) return <p className="help">{words.administrator}</p>;
  if (rules.data === null) return <p className="help">{words.unknownRules}</p>;
  return <Sentences sentences={sentencesOf(rules.data, { kind: 'role', name: role })} />;
}

export const Sentences = ({ sentences }: { sentences: readonly string[] }) => (
  <ul className="help sentences">
    {sentences.map((sentence) => (
      <li key={sentence}>
        <bdi>{visibleName(sentence)}</bdi>
      </li>
    ))}
  </ul>
);
