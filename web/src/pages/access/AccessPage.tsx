import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useId, useState, type SyntheticEvent } from 'react';
import { currentUserQuery } from '../../api/queries';
import { texts } from '../../texts';
import { accessTexts } from '../../texts/access';
import { visibleName } from '../../texts/formats';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { CheckForm } from './CheckForm';
import { GiveAccessDialog } from './GiveAccessDialog';
import { rolesQuery, rulesQuery, userRolesQuery } from './queries';
import { RoleWords, Sentences } from './RoleWords';
import { rulesOf, sentencesOf } from './ruleWords';
import { TakeDialog } from './TakeDialog';
import './access.css';

const words = accessTexts;

/** What a person may: their roles, given and taken away, and why an act is allowed or not. */
export function AccessPage() {
  const { user } = useSearch({ from: '/access' });
  const me = useQuery(currentUserQuery);
  useEffect(() => {
    document.title = `${words.title} · ${texts.product}`;
  }, []);
  return (
    <div className="access">
      <h1>{words.title}</h1>
      {me.data && !me.data.pages.has('/auth/userroles') ? (
        <p className="notice">{words.denied}</p>
      ) : (
        <>
          <PersonForm key={user} user={user ?? ''} />
          {user && <Person key={`roles of ${user}`} user={user} />}
        </>
      )}
    </div>
  );
}

function PersonForm({ user }: { user: string }) {
  const id = useId();
  const navigate = useNavigate();
  const users = useQuery(userRolesQuery);
  const [typed, setTyped] = useState(user);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    void navigate({ to: '/access', search: { user: typed.trim() || undefined } });
  };
  return (
    <form className="person" onSubmit={submit}>
      <label htmlFor={id}>{words.person}</label>
      <input
        id={id}
        dir="auto"
        autoComplete="off"
        list={`${id}-people`}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <datalist id={`${id}-people`}>
        {[...(users.data?.keys() ?? [])].map((known) => (
          <option key={known} value={known} />
        ))}
      </datalist>
      <button type="submit">{words.show}</button>
    </form>
  );
}

function Person({ user }: { user: string }) {
  const id = useId();
  const users = useQuery(userRolesQuery);
  const rules = useQuery(rulesQuery);
  const [isGiving, setGiving] = useState(false);
  const has = users.data?.get(user) ?? [];
  const own = { kind: 'user', name: user } as const;
  const ownRules = rules.data ? rulesOf(rules.data, own) : [];
  return (
    <>
      <section aria-labelledby={id} className="stack">
        <h2 id={id}>{words.mayNow(visibleName(user))}</h2>
        <InlineError query={users} />
        {users.isPending && <p className="faint">{texts.loading}</p>}
        {users.data && !has.length && <p className="notice">{words.none(visibleName(user))}</p>}
        <ul className="roles">
          {has.map((role) => (
            <RoleOfPerson key={role} user={user} role={role} others={others(has, role)} />
          ))}
        </ul>
        <div className="acts">
          <button type="button" onClick={() => setGiving(true)}>
            {words.give}
          </button>
        </div>
        {isGiving && <GiveAccessDialog user={user} onClose={() => setGiving(false)} />}
      </section>
      {rules.data && ownRules.length > 0 && (
        <section className="stack">
          <h2>{words.ownRules}</h2>
          <Sentences sentences={sentencesOf(rules.data, own)} />
        </section>
      )}
      {/* Those who may not see rules may not ask which of them decide, either. */}
      {rules.data && <CheckForm user={user} rules={rules.data} />}
    </>
  );
}

const others = (roles: readonly string[], role: string) => roles.filter((other) => other !== role);

function RoleOfPerson(props: { user: string; role: string; others: string[] }) {
  const { user, role } = props;
  const roles = useQuery(rolesQuery);
  const [isTaking, setTaking] = useState(false);
  const description = roles.data?.find(({ roleName }) => roleName === role)?.description;
  return (
    <li>
      <div className="acts">
        <strong>
          <UserText text={role} />
        </strong>
        <button
          type="button"
          className="small"
          aria-label={words.takeFrom(visibleName(user), visibleName(role))}
          onClick={() => setTaking(true)}
        >
          {words.take}
        </button>
      </div>
      {description && (
        <p className="faint">
          <UserText text={description} />
        </p>
      )}
      <RoleWords role={role} />
      {isTaking && <TakeDialog {...props} onClose={() => setTaking(false)} />}
    </li>
  );
}
