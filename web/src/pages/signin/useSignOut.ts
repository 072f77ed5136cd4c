import { useNavigate } from '@tanstack/react-router';
import { signOut } from '../../session/signIn';

/** Signs out, here and at the provider; the next user begins at the first page. */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    const providerUrl = await signOut();
    if (providerUrl) location.assign(providerUrl);
    else await navigate({ to: '/', search: {}, replace: true });
  };
}
