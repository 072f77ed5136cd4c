import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { addBookmark, assetAddress, bookmarksQuery, removeBookmark } from '../../api/bookmarks';
import type { Place } from '../../api/downloads';
import { errorText } from '../../api/errors';
import { savedTexts } from '../../texts/saved';
import { visibleName } from '../../texts/formats';
import { toast } from '../../ui/Toasts';

const words = savedTexts;

/** Adds an asset to the user's favourites, or removes it from them. */
export function FavouriteButton({ place, name }: { place: Place; name: string }) {
  const bookmarks = useQuery(bookmarksQuery).data;
  const [busy, setBusy] = useState(false);
  if (!bookmarks) return null;
  const address = assetAddress(place);
  const isKept = bookmarks.some((bookmark) => bookmark.address === address);
  const change = async () => {
    setBusy(true);
    try {
      const bookmark = { name: name.slice(0, 100), address };
      await (isKept ? removeBookmark(bookmark) : addBookmark(bookmark));
      toast((isKept ? words.removed : words.kept)(visibleName(name)));
    } catch (error) {
      toast(errorText(error));
    }
    setBusy(false);
  };
  return (
    <button
      type="button"
      aria-label={isKept ? words.unkeep : words.keep}
      title={isKept ? words.unkeep : words.keep}
      disabled={busy}
      onClick={() => void change()}
    >
      <span aria-hidden="true">{isKept ? '★' : '☆'}</span>
    </button>
  );
}
