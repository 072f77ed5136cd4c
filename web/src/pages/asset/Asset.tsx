import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError, sentence } from '../../api/errors';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { editTexts } from '../../texts/edit';
import { viewerTexts } from '../../texts/viewer';
import { Name } from '../../ui/Name';
import { Failure } from '../../ui/Failure';
import { say } from '../../ui/Toasts';
import { downloadUrl, type Place } from '../../viewer/sources';
import { Stage } from '../../viewer/Stage';
import { pathOf as pathOfKey } from '../find/hits';
import { knownAsset } from '../find/known';
import { opened } from '../find/recent';
import { About, newestOf } from './About';
import { Archived } from './Archived';
import { Editor } from './Editor';
import { Facts } from './Facts';
import { Files } from './Files';
import { pathOf } from './FileTree';
import { Metadata } from './Metadata';
import { assetOf, filesOf, type Asset as Details } from './queries';
import { Needs, Relations } from './Relations';
import { missingOf } from './relationQueries';
import { firstFile } from './tree';
import './asset.css';

const ROUTE = '/databases/$databaseId/assets/$assetId';

export function Asset() {
  const { databaseId, assetId } = useParams({ from: ROUTE });
  const { file } = useSearch({ from: ROUTE });
  const place = { databaseId, assetId };
  const found = useQuery(assetOf(place));
  const asset = found.data;
  useEffect(() => {
    if (!asset) return;
    document.title = `${asset.assetName} · ${texts.product}`;
    opened({ databaseId, assetId, name: asset.assetName });
  }, [asset, databaseId, assetId]);
  // A refetch that fails must not replace what somebody types.
  if (found.isError && !asset) {
    const gone = found.error instanceof ApiError && found.error.status === 404;
    if (!gone) return <Failure error={found.error} reset={() => void found.refetch()} />;
    return (
      <div className="notice" role="alert">
        <p>{assetTexts.gone}</p>
        <Link to="/" search={{}}>
          {texts.toFind}
        </Link>
      </div>
    );
  }
  return <Content key={`${databaseId}/${assetId}`} place={place} asset={asset} wanted={file} />;
}

function Content({
  place,
  asset,
  wanted,
}: {
  place: Place;
  asset: Details | undefined;
  wanted?: string;
}) {
  const [withArchived, setWithArchived] = useState(false);
  const archived = asset?.status === 'archived';
  const found = useInfiniteQuery(filesOf(place, withArchived || archived));
  const files = found.data?.pages.flatMap((page) => page.items) ?? [];
  const missing = useQuery(missingOf(place));
  const mayUpload = useMayWrite() ?? false;
  const mayWrite = mayUpload && asset?.status === 'active';
  const only = files.filter((each) => !each.isFolder);
  const first = firstFile(files);
  const path = archived ? undefined : (wanted ?? (first && pathOf(first)));
  const file = only.find((each) => pathOf(each) === path);
  const preview = file?.previewFile;
  const picture = preview ? { file: { ...place, path: pathOfKey(preview, place.assetId) } } : {};
  return (
    <div className="asset">
      <section className="main" aria-label={viewerTexts.toolbar}>
        {path ? (
          <Stage
            key={path}
            {...place}
            file={{ path, size: file?.size ?? null, versionId: file?.versionId }}
            picture={picture}
          />
        ) : (
          <div className="stage empty">
            {archived ? (
              <Archived place={place} mayRestore={mayUpload} />
            ) : (
              found.isSuccess && <NoFiles place={place} mayUpload={mayWrite} />
            )}
          </div>
        )}
      </section>
      <aside className="side">
        {/* Buttons that came with the asset would move what is below them. */}
        <Head
          place={place}
          asset={asset}
          path={path}
          isEmpty={archived || (found.isSuccess && !path)}
          changed={found.isSuccess && !found.hasNextPage ? newestOf(only) : undefined}
          mayWrite={mayUpload && !archived}
        />
        <Files
          place={place}
          found={found}
          // Those of an archived asset are not found until it is known to be archived.
          failure={asset ? found.error : null}
          files={files}
          shown={path}
          missing={missing.data}
          mayWrite={mayWrite}
          withArchived={withArchived}
          onArchived={setWithArchived}
        />
        {path && (
          <>
            <section aria-labelledby="facts">
              <h2 id="facts">{assetTexts.facts}</h2>
              <Facts key={path} place={place} path={path} since={file?.dateCreatedCurrentVersion} />
            </section>
            <Needs place={place} path={path} mayUpload={mayWrite} />
          </>
        )}
        <Metadata place={place} />
      </aside>
      <div className="more">
        <Relations place={place} path={path} />
      </div>
    </div>
  );
}

function Head(props: {
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
  const [signing, setSigning] = useState(false);
  const [known] = useState(() => knownAsset(place));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say(texts.copied);
    } catch {
      say(location.href); // the browser allows no access to the clipboard
    }
  };
  const download = async () => {
    if (!path) return;
    setSigning(true);
    try {
      const link = document.createElement('a');
      // Without it, a browser would open images and texts instead of saving them.
      link.href = await downloadUrl(place, path, true);
      link.rel = 'noreferrer';
      link.click();
    } catch (error) {
      say(sentence(error));
    }
    setSigning(false);
  };
  if (editing && asset) {
    return (
      <Editor
        place={place}
        asset={asset}
        onClose={() => {
          setEditing(false);
          setTimeout(() => edit.current?.focus());
        }}
      />
    );
  }
  const name = asset?.assetName ?? known?.name;
  const description = asset?.description ?? known?.description;
  return (
    <header className="stack">
      <h1>{name ? <Name text={name} /> : <span className="hidden">{texts.loading}</span>}</h1>
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
          <button
            type="button"
            className="primary"
            disabled={!path || signing}
            onClick={() => void download()}
          >
            {texts.download}
          </button>
        )}
        <button type="button" onClick={() => void copy()}>
          {texts.copy}
        </button>
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
      </div>
      <About
        place={place}
        asset={asset}
        tags={asset?.tags ?? known?.tags ?? []}
        changed={props.changed}
      />
    </header>
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
