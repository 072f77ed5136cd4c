import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId, useState, type SyntheticEvent } from 'react';
import { useStore } from '../../api/createStore';
import { session } from '../../session/session';
import { accessTexts } from '../../texts/access';
import { visibleName } from '../../texts/formats';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { InlineError } from '../../ui/InlineError';
import { toast } from '../../ui/Toasts';
import { UserText } from '../../ui/UserText';
import { useFormError, type FieldProps } from '../../ui/useFormError';
import { useIsOpen } from '../../ui/useIsOpen';
import { giveRole, rolesQuery, rulesQuery, userRolesQuery, type Role } from './queries';
import { RoleWords, Sentences } from './RoleWords';
import { denialsOf, isAbout } from './ruleWords';
import './access.css';

const words = accessTexts;

interface DialogProps {
  /** What access is given to, as a title says it. */
  name?: string;
  /** Roles for it come first. */
  databaseId?: string;
  /** The person, if it is known. */
  user?: string;
  onClose: () => void;
}

/** Gives a person a role that exists. */
export function GiveAccessDialog({ name, databaseId, user = '', onClose }: DialogProps) {
  const id = useId();
  const [person, setPerson] = useState(user);
  const users = useQuery(userRolesQuery);
  const [role, setRole] = useState('');
  const form = useGiving(onClose);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    void form.submit(person.trim(), role);
  };
  const title = name === undefined ? words.give : words.giveTo(visibleName(name));
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="stack access-form" onSubmit={submit}>
        <p className="help">{words.help}</p>
        <label htmlFor={id}>{words.person}</label>
        <input
          id={id}
          dir="auto"
          autoComplete="off"
          list={`${id}-people`}
          {...form.fieldProps('userId', `${id}-help`)}
          value={person}
          onChange={(event) => setPerson(event.target.value)}
        />
        <datalist id={`${id}-people`}>
          {[...(users.data?.keys() ?? [])].map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        <p className="help" id={`${id}-help`}>
          {words.personHelp}
        </p>
        <Roles
          databaseId={databaseId}
          chosen={role}
          fieldProps={form.fieldProps}
          onChoose={setRole}
        />
        {form.losses.length > 0 && (
          <div className="notice" role="alert">
            <p>{words.lockOut}</p>
            <Sentences sentences={form.losses} />
          </div>
        )}
        {form.message}
        <div className="acts">
          <button type="submit" className="primary" disabled={form.busy}>
            {form.losses.length ? words.self : words.giveNow}
          </button>
          <CloseButton />
        </div>
      </form>
    </Dialog>
  );
}

/** Gives a role; one that could lock the user out is confirmed, with what would be lost. */
function useGiving(onClose: () => void) {
  const cache = useQueryClient();
  const me = useStore(session).signedIn?.user;
  const rules = useQuery(rulesQuery).data;
  const isOpen = useIsOpen();
  const [losses, setLosses] = useState<readonly string[]>([]);
  const [busy, setBusy] = useState(false);
  const { showError, showApiError, clearError, fieldProps, message } = useFormError();
  const submit = async (person: string, role: string) => {
    clearError();
    if (!person) {
      showError(words.emptyPerson, 'userId');
      return;
    }
    if (!role) {
      showError(words.emptyRole, 'roleName');
      return;
    }
    const denials = person === me ? denialsOf(rules ?? [], { kind: 'role', name: role }) : [];
    const isConfirmed =
      denials.length === losses.length && denials.every((at) => losses.includes(at));
    setLosses(denials);
    if (!isConfirmed) return;
    setBusy(true);
    try {
      await giveRole(person, role);
      void cache.invalidateQueries({ queryKey: ['access'] });
      toast(words.given(visibleName(person), visibleName(role)));
      if (isOpen.current) onClose();
    } catch (error) {
      setBusy(false);
      showApiError(error, { UserRoleExists: 'roleName' });
    }
  };
  return { submit, losses, busy, fieldProps, message };
}

function Roles(props: {
  databaseId: string | undefined;
  chosen: string;
  fieldProps: FieldProps;
  onChoose: (role: string) => void;
}) {
  const { databaseId, chosen, fieldProps, onChoose } = props;
  const roles = useQuery(rolesQuery);
  const rules = useQuery(rulesQuery);
  if (roles.isError) return <InlineError query={roles} />;
  if (!roles.data || rules.data === undefined) return null;
  const isHere = ({ roleName }: Role) =>
    databaseId !== undefined &&
    isAbout(rules.data ?? [], { kind: 'role', name: roleName }, databaseId);
  const [here, others] = [roles.data.filter(isHere), roles.data.filter((role) => !isHere(role))];
  if (!roles.data.length) return <p className="notice">{words.noRoles}</p>;
  return (
    <fieldset className="roles">
      <legend>{words.role}</legend>
      {databaseId !== undefined && rules.data && !here.length && (
        <p className="help">{words.noneHere}</p>
      )}
      {[...here, ...others].map((role) => (
        <RoleChoice
          key={role.roleName}
          role={role}
          isHere={here.includes(role)}
          isChosen={chosen === role.roleName}
          attributes={fieldProps('roleName')}
          onChoose={() => onChoose(role.roleName)}
        />
      ))}
    </fieldset>
  );
}

function RoleChoice(props: {
  role: Role;
  isHere: boolean;
  isChosen: boolean;
  attributes: ReturnType<FieldProps>;
  onChoose: () => void;
}) {
  const { role, isChosen } = props;
  const id = useId();
  return (
    <div className="role">
      <input
        type="radio"
        id={id}
        name="role"
        {...props.attributes}
        checked={isChosen}
        onChange={props.onChoose}
      />
      <label htmlFor={id}>
        <strong>
          <UserText text={role.roleName} />
        </strong>{' '}
        {props.isHere && <span className="tag">{words.here}</span>}
        <span className="faint lines">
          <UserText text={role.description} />
        </span>
      </label>
      {role.mfaRequired && <p className="help">{words.mfa}</p>}
      {isChosen && <RoleWords role={role.roleName} />}
    </div>
  );
}
