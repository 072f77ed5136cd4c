import { useState } from 'react';
import { useMayGive } from '../../api/queries';
import { accessTexts } from '../../texts/access';
import { lazyComponent } from '../../ui/lazyComponent';
import { LazyDialog } from '../../ui/LazyDialog';

const GiveAccessDialog = lazyComponent(() => import('./GiveAccessDialog'), 'GiveAccessDialog');

/** Offers a role to a person, where a database or an asset is shown. */
export function GiveAccessButton(props: { name: string; databaseId: string }) {
  const mayGive = useMayGive();
  const [isOpen, setOpen] = useState(false);
  if (!mayGive) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {accessTexts.give}
      </button>
      {isOpen && (
        <LazyDialog onClose={() => setOpen(false)}>
          <GiveAccessDialog {...props} onClose={() => setOpen(false)} />
        </LazyDialog>
      )}
    </>
  );
}
