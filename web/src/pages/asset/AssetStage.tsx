import { Link, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import type { File } from '../../api/assets';
import type { Place } from '../../api/downloads';
import { assetPath as pathOfKey } from '../../api/hits';
import { assetTexts } from '../../texts/asset';
import { lazyComponent } from '../../ui/lazyComponent';
import { Stage } from '../../viewer/Stage';
import { ArchivedNotice } from './ArchivedNotice';

const EarlierContent = lazyComponent(() => import('./EarlierContent'), 'EarlierContent');

/** The file that is shown, or why there is none. */
export function AssetStage(props: {
  place: Place;
  path: string | undefined;
  content: string | undefined;
  file: File | undefined;
  isArchived: boolean;
  isEmpty: boolean;
  mayRestore: boolean;
  mayWrite: boolean;
}) {
  const { place, path, content, file } = props;
  const { camera, view } = useSearch({ from: '/databases/$databaseId/assets/$assetId' });
  const preview = file?.previewFile;
  const picture = preview ? { file: { ...place, path: pathOfKey(preview, place.assetId) } } : {};
  return path ? (
    <>
      {content && (
        <Suspense>
          <EarlierContent place={place} path={path} versionId={content} />
        </Suspense>
      )}
      <Stage
        key={`${path} ${content ?? ''}`}
        {...place}
        file={
          content
            ? { path, size: null, earlier: { versionId: content } }
            : { path, size: file?.size ?? null, changedAt: file?.dateCreatedCurrentVersion }
        }
        picture={content ? {} : picture}
        view={camera ?? view}
      />
    </>
  ) : (
    <div className="stage empty">
      {props.isArchived ? (
        <ArchivedNotice place={place} mayRestore={props.mayRestore} />
      ) : (
        props.isEmpty && <NoFiles place={place} mayUpload={props.mayWrite} />
      )}
    </div>
  );
}

function NoFiles({ place, mayUpload }: { place: Place; mayUpload: boolean }) {
  return (
    <div className="notice">
      <p>{assetTexts.noFiles}</p>
      {mayUpload && (
        <Link
          to="/upload"
          search={{ database: place.databaseId, asset: place.assetId }}
          className="button primary"
          preload={false}
        >
          {assetTexts.upload}
        </Link>
      )}
    </div>
  );
}
