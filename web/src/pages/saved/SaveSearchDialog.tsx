import { useRouter } from '@tanstack/react-router';
import { useId, useState, type SyntheticEvent } from 'react';
import { addBookmark } from '../../api/bookmarks';
import { texts } from '../../texts';
import { savedTexts } from '../../texts/saved';
import { visibleName } from '../../texts/formats';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { toast } from '../../ui/Toasts';
import { useFormError } from '../../ui/useFormError';

const words = savedTexts;

/** Saves the search of the address under a name. */
export function SaveSearchDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const id = useId();
  const router = useRouter();
  const [typed, setTyped] = useState(name.slice(0, 100));
  const [busy, setBusy] = useState(false);
  const { fieldProps, showError, showApiError, message } = useFormError();
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const chosen = typed.trim();
    if (!chosen) {
      showError(words.emptyName, 'name');
      return;
    }
    setBusy(true);
    try {
      const { search } = new URL(router.state.location.href, location.origin);
      await addBookmark({ name: chosen, address: `/${search}` });
      toast(words.saved(visibleName(chosen)));
      onClose();
    } catch (error) {
      setBusy(false);
      showApiError(error);
    }
  };
  return (
    <Dialog title={texts.find.save} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <label htmlFor={id}>{words.name}</label>
        <input
          id={id}
          dir="auto"
          maxLength={100}
          {...fieldProps('name')}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {message}
        <div className="acts">
          <button type="submit" className="primary" disabled={busy}>
            {words.save}
          </button>
          <CloseButton />
        </div>
      </form>
    </Dialog>
  );
}
