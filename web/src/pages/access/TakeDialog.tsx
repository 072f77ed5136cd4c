import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useStore } from '../../api/createStore';
import { errorText } from '../../api/errors';
import { session } from '../../session/session';
import { accessTexts } from '../../texts/access';
import { visibleName } from '../../texts/formats';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { toast } from '../../ui/Toasts';
import { leaveRoles } from './queries';
import { RoleWords } from './RoleWords';

const words = accessTexts;

/** Takes a role from a person, with what they lose; one of the user's own has other words. */
export function TakeDialog(props: {
  user: string;
  role: string;
  /** The roles that stay. */
  others: string[];
  onClose: () => void;
}) {
  const { user, role, others, onClose } = props;
  const cache = useQueryClient();
  const me = useStore(session).signedIn?.user;
  const [state, setState] = useState({ busy: false, failure: '' });
  const take = async () => {
    setState({ busy: true, failure: '' });
    try {
      await leaveRoles(user, others);
      void cache.invalidateQueries({ queryKey: ['access'] });
      if (user === me) void cache.invalidateQueries();
      toast(words.taken(visibleName(user), visibleName(role)));
      onClose();
    } catch (error) {
      setState({ busy: false, failure: errorText(error) });
    }
  };
  const isOwn = user === me;
  return (
    <Dialog title={words.takeFrom(visibleName(user), visibleName(role))} onClose={onClose}>
      {isOwn && <p className="failure">{words.lockOutTake}</p>}
      <p>{words.takeHelp(visibleName(user))}</p>
      <RoleWords role={role} />
      <p className="failure" role="alert">
        {state.failure}
      </p>
      <div className="acts">
        <button
          type="button"
          className="primary danger"
          disabled={state.busy}
          onClick={() => void take()}
        >
          {isOwn ? words.self : words.take}
        </button>
        <CloseButton first />
      </div>
    </Dialog>
  );
}
