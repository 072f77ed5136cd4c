import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { restoreAsset } from '../../api/archiving';
import { errorText } from '../../api/errors';
import { archivedTexts } from '../../texts/archived';
import { filesTexts } from '../../texts/files';
import { toast } from '../../ui/Toasts';
import type { Place } from '../../api/downloads';

const words = archivedTexts;

/** Shown instead of a file: those of an archived asset can be shown once it is restored. */
export function ArchivedNotice({ place, mayRestore }: { place: Place; mayRestore: boolean }) {
  const cache = useQueryClient();
  const [state, setState] = useState({ busy: false, failure: '' });
  const restore = async () => {
    setState({ busy: true, failure: '' });
    try {
      await restoreAsset(place);
      toast(words.restored);
    } catch (error) {
      setState({ busy: false, failure: errorText(error) });
    }
    // Also after a failure: what is not known to be restored may be.
    await cache.invalidateQueries();
    setState((before) => ({ ...before, busy: false }));
  };
  return (
    <div className="notice">
      <p>{words.help}</p>
      {state.failure && (
        <p className="failure" role="alert">
          {state.failure}
        </p>
      )}
      {mayRestore && (
        <button
          type="button"
          className="primary"
          disabled={state.busy}
          onClick={() => void restore()}
        >
          {state.busy ? filesTexts.busy : words.restore}
        </button>
      )}
    </div>
  );
}
