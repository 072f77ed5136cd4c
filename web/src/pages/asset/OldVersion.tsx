import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { ApiError } from '../../api/errors';
import type { File } from '../../api/assets';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { formatDateTime, visibleName } from '../../texts/formats';
import { metadataTexts } from '../../texts/metadata';
import { versionsTexts } from '../../texts/versions';
import { viewerTexts } from '../../texts/viewer';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { fileName } from '../../ui/fileKinds';
import { UserText } from '../../ui/UserText';
import { Stage } from '../../viewer/Stage';
import { DownloadButton } from './AssetButtons';
import { Breadcrumb } from './Breadcrumb';
import { filePath, FileTree } from './FileTree';
import { Pairs } from './Metadata';
import { NewestLink } from './NewestLink';
import { toValueType } from './metadataQueries';
import { firstFile } from './tree';
import { versionQuery, type WholeVersion } from './versionQueries';

const words = versionsTexts;

interface Props {
  place: Place;
  /** Undefined until it is known. */
  assetName: string | undefined;
  versionId: string;
  requestedPath: string | undefined;
  view: string | undefined;
}

/** The files and metadata of an asset as a version of it has them. */
export function OldVersion(props: Props) {
  const { place, versionId, requestedPath } = props;
  const query = useQuery(versionQuery(place, versionId));
  const version = query.data;
  if (query.isError && !version) {
    const isNotFound = query.error instanceof ApiError && [400, 404].includes(query.error.status);
    if (!isNotFound)
      return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
    return (
      <div className="notice" role="alert">
        <h1>{words.gone}</h1>
        <NewestLink place={place} path={requestedPath} />
      </div>
    );
  }
  const files = version?.files.map(toFile) ?? [];
  const shown =
    files.find((file) => !file.isPermanentlyDeleted && filePath(file) === requestedPath) ??
    firstFile(files.filter((file) => !file.isPermanentlyDeleted));
  const path = shown && filePath(shown);
  const earlier = { versionId: shown?.versionId ?? '', assetVersionId: versionId };
  return (
    <div className="asset">
      <section className="main" aria-label={viewerTexts.toolbar}>
        {path ? (
          <Stage
            key={path}
            {...place}
            file={{ path, size: shown.size ?? null, earlier }}
            picture={{}}
            view={props.view}
          />
        ) : (
          <div className="stage empty">{version && <p className="notice">{words.empty}</p>}</div>
        )}
      </section>
      <aside className="side">
        <Breadcrumb place={place} />
        <VersionHeader {...props} version={version} path={path} earlier={earlier} />
        {files.length > 0 && (
          <section aria-labelledby="files">
            <h2 id="files">{assetTexts.files}</h2>
            <FileTree
              place={place}
              files={files}
              hasMore={false}
              shown={path}
              missing={undefined}
              actions={undefined}
              version={versionId}
            />
          </section>
        )}
        {version && path && <Records title={metadataTexts.ofFile} version={version} path={path} />}
        {version && <Records title={assetTexts.metadata} version={version} path="/" />}
      </aside>
    </div>
  );
}

function VersionHeader(
  props: Props & {
    version: WholeVersion | undefined;
    path: string | undefined;
    earlier: { versionId: string };
  },
) {
  const { place, assetName, version, versionId, path } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The link that led here is no longer there.
    heading.current?.focus({ preventScroll: true });
    return () => void setTimeout(() => document.getElementById('content')?.focus());
  }, []);
  return (
    <header className="stack">
      <h1 ref={heading} tabIndex={-1}>
        {assetName ? (
          <UserText text={assetName} />
        ) : (
          <span className="hidden">{texts.loading}</span>
        )}
      </h1>
      <p className="notice">{words.old(versionId, visibleName(version?.versionAlias ?? ''))}</p>
      {version && (
        <>
          <p className="lines">
            <UserText text={version.comment} />
          </p>
          <p className="faint">
            {words.by(
              visibleName(version.createdBy),
              formatDateTime(version.dateCreated),
              version.fileCount,
            )}
          </p>
        </>
      )}
      <div className="acts">
        <DownloadButton place={place} path={path} version={props.earlier} />
        <NewestLink place={place} path={path} />
      </div>
    </header>
  );
}

function Records(props: { title: string; version: WholeVersion; path: string }) {
  const fields = props.version.versionedMetadata
    .filter(({ type, filePath: at }) => type === 'metadata' && at === props.path)
    .map(({ metadataKey: key, metadataValue: value, metadataValueType: type }) => {
      return { key, value, type: toValueType(type), isStored: true, schema: null };
    });
  if (!fields.length) return null;
  return (
    <section aria-label={props.title}>
      <h2>{props.title}</h2>
      <Pairs fields={fields} />
    </section>
  );
}

function toFile(file: WholeVersion['files'][number]): File {
  const { relativeKey, versionId, size, isPermanentlyDeleted } = file;
  return {
    fileName: fileName(relativeKey),
    key: relativeKey,
    relativePath: relativeKey,
    isFolder: false,
    versionId,
    size,
    isPermanentlyDeleted,
  };
}
