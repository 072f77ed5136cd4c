import { useId, useState, type SyntheticEvent } from 'react';
import { accessTexts } from '../../texts/access';
import { visibleName } from '../../texts/formats';
import { AssetSelect, DatabaseSelect } from '../../ui/AssetSelect';
import { useFormError } from '../../ui/useFormError';
import { explain, isOfDatabase, type Act, type Explanation } from './queries';
import type { Constraint } from './ruleWords';

const words = accessTexts;
const ACTS = Object.keys(words.acts) as Act[];

/** Whether a person may do something, and which rules decide. */
export function CheckForm({ user, rules }: { user: string; rules: readonly Constraint[] }) {
  const id = useId();
  const [act, setAct] = useState<Act>('see');
  const [place, setPlace] = useState({ databaseId: '', assetId: '' });
  const [mfa, setMfa] = useState(false);
  const [explanation, setExplanation] = useState<Explanation | null>(null);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  /** An answer to an earlier question would be taken for that of this one. */
  const change = (apply: () => void) => {
    apply();
    setExplanation(null);
  };
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    clearError();
    if (!place.databaseId) {
      showError(words.emptyDatabase, 'databaseId');
      return;
    }
    if (!place.assetId && !isOfDatabase(act)) {
      showError(words.emptyAsset, 'assetId');
      return;
    }
    try {
      setExplanation(await explain(user, act, place, mfa));
    } catch (error) {
      showApiError(error);
    }
  };
  return (
    <section aria-labelledby={id} className="stack">
      <h2 id={id}>{words.may}</h2>
      <form className="stack question" onSubmit={(event) => void submit(event)}>
        <label htmlFor={`${id}-act`}>{words.act}</label>
        <select
          id={`${id}-act`}
          value={act}
          onChange={({ target }) =>
            change(() => setAct(ACTS.find((known) => known === target.value) ?? act))
          }
        >
          {ACTS.map((known) => (
            <option key={known} value={known}>
              {words.acts[known]}
            </option>
          ))}
        </select>
        <DatabaseSelect
          value={place.databaseId}
          fieldProps={fieldProps('databaseId')}
          onChange={(databaseId) => change(() => setPlace({ databaseId, assetId: '' }))}
        />
        {place.databaseId && !isOfDatabase(act) && (
          <AssetSelect
            databaseId={place.databaseId}
            value={place.assetId}
            fieldProps={fieldProps('assetId')}
            onChange={(assetId) => change(() => setPlace({ ...place, assetId }))}
          />
        )}
        <label className="line">
          <input
            type="checkbox"
            checked={mfa}
            onChange={({ target }) => change(() => setMfa(target.checked))}
          />{' '}
          {words.secondFactor}
        </label>
        {message}
        <div className="acts">
          <button type="submit">{words.check}</button>
        </div>
      </form>
      <div role="status">{explanation && <Answer explanation={explanation} rules={rules} />}</div>
    </section>
  );
}

function Answer(props: { explanation: Explanation; rules: readonly Constraint[] }) {
  const { tier1, tier2, roles } = props.explanation;
  const parts = [
    [tier1, words.noRule.request],
    [tier2, words.noRule.object],
  ] as const;
  const isAllowed = parts.every(([decision]) => decision?.decision !== 'deny');
  const reasons = parts.flatMap(([decision, none]) => {
    if (!decision || (decision.decision === 'allow') !== isAllowed) return [];
    const names = decision.by.map((by) => ruleName(by, props.rules));
    if (!names.length) return [isAllowed ? words.always : none];
    return [isAllowed ? words.because(names) : words.forbidden(names)];
  });
  return (
    <div className="notice">
      <p>
        <strong>{isAllowed ? words.yes : words.no}</strong> {[...new Set(reasons)].join(' ')}
      </p>
      <p className="faint">{words.rolesInEffect(roles.map((role) => visibleName(role)))}</p>
    </div>
  );
}

/** A rule by its name, with the role that has it. */
function ruleName(
  { constraintId, givenTo }: { constraintId: string; givenTo: string },
  rules: readonly Constraint[],
): string {
  const name = rules.find((rule) => rule.constraintId === constraintId)?.name ?? constraintId;
  const [, kind, grantee = givenTo] = /^(role|user)[# ](.*)$/s.exec(givenTo) ?? [];
  return kind === 'user'
    ? words.ruleOfUser(visibleName(name))
    : words.ruleOf(visibleName(name), visibleName(grantee));
}
