import { useQuery } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect, useId, type ReactNode } from 'react';
import { bookmarksQuery, placeOf, removeBookmark, type Bookmark } from '../../api/bookmarks';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { savedTexts } from '../../texts/saved';
import { visibleName } from '../../texts/formats';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { toast } from '../../ui/Toasts';
import { UserText } from '../../ui/UserText';
import { PictureLinks } from '../asset/PictureLinks';
import { parseSearch } from '../find/findState';
import './saved.css';

const words = savedTexts;

/** The searches and assets that the user has saved. */
export function SavedPage() {
  const query = useQuery(bookmarksQuery);
  useEffect(() => {
    document.title = `${words.title} · ${texts.product}`;
  }, []);
  const bookmarks = query.data ?? [];
  const searches = bookmarks.filter(({ address }) => !placeOf(address));
  const favourites = bookmarks.flatMap(({ name, address }) => {
    const place = placeOf(address);
    return place ? [{ ...place, name }] : [];
  });
  return (
    <div className="saved">
      <h1>{words.title}</h1>
      {query.isPending && <p className="faint">{texts.loading}</p>}
      {query.isError && !query.data && (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data && (
        <>
          <Section title={words.searches} empty={searches.length ? '' : words.noSearches}>
            <ul className="stack">
              {searches.map((bookmark) => (
                <SavedSearch key={bookmark.address} bookmark={bookmark} />
              ))}
            </ul>
          </Section>
          <Section title={words.favourites} empty={favourites.length ? '' : words.noFavourites}>
            <PictureLinks items={favourites} />
          </Section>
        </>
      )}
    </div>
  );
}

function Section(props: { title: string; empty: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="stack">
      <h2 id={id}>{props.title}</h2>
      {props.empty ? <p className="notice">{props.empty}</p> : props.children}
    </section>
  );
}

function SavedSearch({ bookmark }: { bookmark: Bookmark }) {
  const { name, address } = bookmark;
  const router = useRouter();
  const remove = async () => {
    try {
      await removeBookmark(bookmark);
      toast(words.removed(visibleName(name)));
    } catch (error) {
      toast(errorText(error));
    }
  };
  const { search } = new URL(address, location.origin);
  return (
    <li className="acts">
      <Link to="/" search={parseSearch(router.options.parseSearch(search))}>
        <UserText text={name} />
      </Link>
      <button
        type="button"
        className="quiet"
        aria-label={words.remove(visibleName(name))}
        onClick={() => void remove()}
      >
        ×
      </button>
    </li>
  );
}
