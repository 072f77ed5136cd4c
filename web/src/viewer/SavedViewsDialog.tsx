import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Place } from '../api/downloads';
import { errorText } from '../api/errors';
import { deleteView, viewsQuery, type SavedView } from '../api/savedViews';
import { texts } from '../texts';
import { visibleName } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { CloseButton, Dialog } from '../ui/Dialog';
import { ErrorNotice } from '../ui/ErrorNotice';

/** The saved views of an asset, with pictures: to open, and to delete. */
export function SavedViewsDialog({ place, onClose }: { place: Place; onClose: () => void }) {
  const { data: views, error, refetch } = useQuery(viewsQuery(place));
  return (
    <Dialog title={viewerTexts.savedViews} onClose={onClose}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!error && !views?.length && (
        <p role="status">{views ? viewerTexts.noViews : texts.loading}</p>
      )}
      {views && (
        <ul className="views">
          {views.map((view) => (
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
  const [failure, setFailure] = useState('');
  const name = visibleName(view.name);
  const remove = async () => {
    try {
      await deleteView(place, view.viewId);
    } catch (error) {
      setFailure(errorText(error));
    }
  };
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
      >
        <img src={view.pictureUrl} alt="" />
        <bdi>{name}</bdi>
      </Link>
      <button
        type="button"
        className="small"
        aria-label={viewerTexts.deleteView(name)}
        onClick={() => void remove()}
      >
        {viewerTexts.delete}
      </button>
      {failure && <p role="alert">{failure}</p>}
    </li>
  );
}
