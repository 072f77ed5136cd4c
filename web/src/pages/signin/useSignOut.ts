import { useNavigate } from '@tanstack/react-router';
import { errorText } from '../../api/errors';
import { signOut } from '../../session/signIn';
import { toast } from '../../ui/Toasts';

/** Signs out, here and at the provider; the next user begins at the first page. */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    try {
      const providerUrl = await signOut();
      if (providerUrl) location.assign(providerUrl);
      else await navigate({ to: '/', search: {}, replace: true });
    } catch (error) {
      toast(errorText(error));
    }
  };
}
