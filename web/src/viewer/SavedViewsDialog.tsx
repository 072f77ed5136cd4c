import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Place } from '../api/downloads';
import { errorText } from '../api/errors';
import { deleteView, viewsQuery, type SavedView } from '../api/savedViews';
import { texts } from '../texts';
import { formatDateTime, visibleName } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { CloseButton, Dialog } from '../ui/Dialog';
import { ErrorNotice } from '../ui/ErrorNotice';

/** With more views than this, one is looked for by words. */
const MANY = 8;

/** The saved views of an asset, with pictures: to open, and to delete. */
export function SavedViewsDialog({ place, onClose }: { place: Place; onClose: () => void }) {
  const { data: views, error, refetch } = useQuery(viewsQuery(place));
  const [words, setWords] = useState('');
  const filter = words.trim().toLowerCase();
  const matching = views?.filter(({ name, filePath }) =>
    `${name}\n${filePath}`.toLowerCase().includes(filter),
  );
  return (
    <Dialog title={viewerTexts.savedViews} onClose={onClose}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!error && !views?.length && (
        <p role="status">{views ? viewerTexts.noViews : texts.loading}</p>
      )}
      {views && views.length > MANY && (
        <input
          type="search"
          aria-label={viewerTexts.findView}
          placeholder={viewerTexts.findView}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      {views && views.length > 0 && !matching?.length && (
        <p role="status">{viewerTexts.noSuchView}</p>
      )}
      {matching && matching.length > 0 && (
        <ul className="views">
          {matching.map((view) => (
            <ViewRow key={view.viewId} place={place} view={view} onOpen={onClose} />
          ))}
        </ul>
      )}
      <div className="acts">
        <CloseButton text={texts.close} />
      </div>
    </Dialog>
  );
}

function ViewRow(props: { place: Place; view: SavedView; onOpen: () => void }) {
  const { place, view, onOpen } = props;
  const [isDeleting, setDeleting] = useState(false);
  const name = visibleName(view.name);
  return (
    <li>
      <Link
        to="/databases/$databaseId/assets/$assetId"
        params={place}
        search={{
          file: view.filePath,
          version: view.assetVersionId ?? undefined,
          content: view.versionId ?? undefined,
          view: view.viewId,
        }}
        onClick={onOpen}
        preload={false}
        aria-label={name}
      >
        <img src={view.pictureUrl} alt="" loading="lazy" />
        <bdi title={name}>{name}</bdi>
      </Link>
      {!isDeleting && (
        <button
          type="button"
          className="small"
          aria-label={viewerTexts.deleteView(name)}
          onClick={() => setDeleting(true)}
        >
          {viewerTexts.delete}
        </button>
      )}
      <p className="faint">{madeOf(view)}</p>
      {isDeleting && <Deletion place={place} view={view} onCancel={() => setDeleting(false)} />}
    </li>
  );
}

/** The file that a view is of, who saved it, and when. */
function madeOf({ filePath, assetVersionId, versionId, createdBy, dateCreated }: SavedView) {
  const path = visibleName(filePath.slice(1));
  const file = assetVersionId
    ? viewerTexts.ofVersion(path, assetVersionId)
    : versionId
      ? viewerTexts.ofEarlier(path)
      : path;
  return [file, visibleName(createdBy), formatDateTime(dateCreated)].filter(Boolean).join(' · ');
}

/** Asks whether a view is deleted, which cannot be undone. */
function Deletion(props: { place: Place; view: SavedView; onCancel: () => void }) {
  const { place, view, onCancel } = props;
  const [failure, setFailure] = useState('');
  const remove = async () => {
    try {
      await deleteView(place, view.viewId);
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <div className="stack">
      <p role="alert">{failure || viewerTexts.deletedView}</p>
      <div className="acts">
        <button type="button" className="small" autoFocus onClick={() => void remove()}>
          {viewerTexts.deleteIt}
        </button>
        <button type="button" className="small" onClick={onCancel}>
          {texts.cancel}
        </button>
      </div>
    </div>
  );
}
