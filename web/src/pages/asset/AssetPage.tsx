import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/errors';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { editTexts } from '../../texts/edit';
import { viewerTexts } from '../../texts/viewer';
import { lazyComponent } from '../../ui/lazyComponent';
import { UserText } from '../../ui/UserText';
import { ErrorNotice } from '../../ui/ErrorNotice';
import type { Place } from '../../api/downloads';
import { cachedAsset } from '../find/cachedAsset';
import { addRecentAsset } from '../find/recentAssets';
import { ArchiveButton } from './ArchiveButton';
import { CopyButton, DownloadButton } from './AssetButtons';
import { AssetProperties, newestChange } from './AssetProperties';
import { FavouriteButton } from '../saved/FavouriteButton';
import { GiveAccessButton } from '../access/GiveAccessButton';
import { AssetEditor } from './AssetEditor';
import { AssetStage } from './AssetStage';
import { Breadcrumb } from './Breadcrumb';
import { FactsSection } from './FactsSection';
import { FilesSection } from './FilesSection';
import { filePath } from './FileTree';
import { Metadata } from './Metadata';
import { assetQuery, filesQuery, type Asset as Details } from '../../api/assets';
import { References, Relations } from './Relations';
import { missingReferencesQuery } from './relationQueries';
import { firstFile } from './tree';
import { HistorySections } from './HistorySections';
import './asset.css';

const OldVersion = lazyComponent(() => import('./OldVersion'), 'OldVersion');

const ROUTE = '/databases/$databaseId/assets/$assetId';

export function AssetPage() {
  const { databaseId, assetId } = useParams({ from: ROUTE });
  const { file, version, content, camera, view } = useSearch({ from: ROUTE });
  const place = { databaseId, assetId };
  const assetResult = useQuery(assetQuery(place));
  const asset = assetResult.data;
  useEffect(() => {
    if (!asset) return;
    document.title = `${asset.assetName} · ${texts.product}`;
    addRecentAsset({ databaseId, assetId, name: asset.assetName });
  }, [asset, databaseId, assetId]);
  // A refetch that fails must not replace what someone types.
  if (assetResult.isError && !asset) {
    const isNotFound = assetResult.error instanceof ApiError && assetResult.error.status === 404;
    if (!isNotFound)
      return <ErrorNotice error={assetResult.error} onRetry={() => void assetResult.refetch()} />;
    return (
      <div className="notice" role="alert">
        <h1>{assetTexts.gone}</h1>
        <p>{texts.errors.askForRole}</p>
        <Link to="/" search={{}}>
          {texts.toFind}
        </Link>
      </div>
    );
  }
  if (version) {
    const props = {
      place,
      assetName: asset?.assetName,
      versionId: version,
      requestedPath: file,
      view: camera ?? view,
    };
    return (
      <Suspense>
        <OldVersion key={version} {...props} />
      </Suspense>
    );
  }
  return (
    <AssetContent
      key={`${databaseId}/${assetId}`}
      place={place}
      asset={asset}
      requestedPath={file}
      content={content}
    />
  );
}

function AssetContent({
  place,
  asset,
  requestedPath,
  content,
}: {
  place: Place;
  asset: Details | undefined;
  requestedPath: string | undefined;
  /** An earlier content of the file, which is shown instead. */
  content: string | undefined;
}) {
  const [withArchived, setWithArchived] = useState(false);
  const archived = asset?.status === 'archived';
  const filesResult = useInfiniteQuery(filesQuery(place, withArchived || archived));
  const files = filesResult.data?.pages.flatMap((page) => page.items) ?? [];
  const missing = useQuery(missingReferencesQuery(place));
  const mayUpload = useMayWrite() ?? false;
  const mayWrite = mayUpload && asset?.status === 'active';
  const onlyFiles = files.filter((file) => !file.isFolder);
  const first = firstFile(files);
  const path = archived ? undefined : (requestedPath ?? (first && filePath(first)));
  const file = onlyFiles.find((file) => filePath(file) === path);
  return (
    <div className="asset">
      <section className="main" aria-label={viewerTexts.toolbar}>
        <AssetStage
          place={place}
          path={path}
          content={content}
          file={file}
          isArchived={archived}
          isEmpty={filesResult.isSuccess}
          mayRestore={mayUpload}
          mayWrite={mayWrite}
        />
      </section>
      <aside className="side">
        <Breadcrumb place={place} />
        {/* Buttons that came with the asset would move what is below them. */}
        <AssetHeader
          place={place}
          asset={asset}
          path={path}
          isEmpty={archived || (filesResult.isSuccess && !path)}
          changed={
            filesResult.isSuccess && !filesResult.hasNextPage ? newestChange(onlyFiles) : undefined
          }
          mayWrite={mayUpload && !archived}
        />
        <FilesSection
          place={place}
          query={filesResult}
          // Those of an archived asset are not found until it is known to be archived.
          failure={asset ? filesResult.error : null}
          files={files}
          shown={path}
          missing={missing.data}
          mayWrite={mayWrite}
          withArchived={withArchived}
          onArchived={setWithArchived}
        />
        {path && (
          <>
            <FactsSection place={place} path={path} file={file} mayWrite={mayWrite} />
            <References place={place} path={path} mayUpload={mayWrite} />
          </>
        )}
        <HistorySections place={place} path={path} mayWrite={mayWrite} />
        {path && <Metadata key={path} place={place} path={path} mayWrite={mayWrite} />}
        <Metadata place={place} mayWrite={mayWrite} />
      </aside>
      <div className="more">
        <Relations place={place} path={path} />
      </div>
    </div>
  );
}

function AssetHeader(props: {
  place: Place;
  asset: Details | undefined;
  path: string | undefined;
  isEmpty: boolean;
  changed: string | undefined;
  mayWrite: boolean;
}) {
  const { place, asset, path, isEmpty, mayWrite } = props;
  const [editing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const [cached] = useState(() => cachedAsset(place));
  if (editing && asset) {
    return (
      <AssetEditor
        place={place}
        asset={asset}
        onClose={() => {
          setEditing(false);
          setTimeout(() => edit.current?.focus());
        }}
      />
    );
  }
  const name = asset?.assetName ?? cached?.name;
  const description = asset?.description ?? cached?.description;
  return (
    <header className="stack">
      <h1>{name ? <UserText text={name} /> : <span className="hidden">{texts.loading}</span>}</h1>
      {description && (
        <p dir="auto" className="lines">
          {description}
        </p>
      )}
      {asset?.status === 'archived' && <p className="failure">{assetTexts.archived}</p>}
      {asset && !asset.isDistributable && (
        <p className="failure">{texts.errors.notDistributable}</p>
      )}
      <div className="acts">
        {!isEmpty && (asset?.isDistributable ?? true) && (
          <DownloadButton place={place} path={path} />
        )}
        <CopyButton />
        {name && <FavouriteButton place={place} name={name} />}
        {mayWrite && (
          <button ref={edit} type="button" onClick={() => setEditing(true)}>
            {editTexts.start}
          </button>
        )}
        {mayWrite && (
          <Link
            to="/upload"
            search={{ database: place.databaseId, asset: place.assetId }}
            className="button"
            preload={false}
          >
            {assetTexts.upload}
          </Link>
        )}
        {name && <GiveAccessButton name={name} databaseId={place.databaseId} />}
        {mayWrite && name && <ArchiveButton place={place} name={name} />}
      </div>
      <AssetProperties
        place={place}
        asset={asset}
        tags={asset?.tags ?? cached?.tags ?? []}
        changed={props.changed}
      />
    </header>
  );
}
