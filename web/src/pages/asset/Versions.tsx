import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { formatDateTime, visibleName } from '../../texts/formats';
import { versionsTexts } from '../../texts/versions';
import { MoreButton } from '../../ui/MoreButton';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { CompareDialog, NOW } from './CompareDialog';
import { RevertDialog } from './RevertDialog';
import { VersionDialog } from './VersionDialog';
import { versionsQuery, type ListedVersion } from './versionQueries';

const words = versionsTexts;

type Pending =
  | { act: 'create' }
  | { act: 'edit' | 'revert'; version: ListedVersion }
  | { act: 'compare'; from: string; to: string };

interface VersionsProps {
  place: Place;
  path: string | undefined;
  mayWrite: boolean;
}

/** The versions of an asset as a timeline, and what can be done with them. */
export function Versions({ place, path, mayWrite }: VersionsProps) {
  const query = useInfiniteQuery(versionsQuery(place));
  const [pending, setPending] = useState<Pending | null>(null);
  const versions = query.data ?? [];
  const [newest] = versions;
  return (
    <div className="stack">
      <div className="acts">
        {mayWrite && (
          <button type="button" onClick={() => setPending({ act: 'create' })}>
            {words.create}
          </button>
        )}
        {newest && (
          <button
            type="button"
            onClick={() => setPending({ act: 'compare', from: newest.Version, to: NOW })}
          >
            {words.compare}
          </button>
        )}
      </div>
      {query.isPending && <p className="faint">{texts.loading}</p>}
      <InlineError query={query} />
      {query.isSuccess && !versions.length && <p className="faint">{words.none}</p>}
      <ol className="timeline">
        {versions.map((version, at) => {
          const before = versions[at + 1];
          return (
            <li key={version.Version}>
              <VersionLine version={version} path={path} place={place} />
              <div className="acts">
                {before && (
                  <ActButton
                    act={words.changes}
                    version={version}
                    onClick={() =>
                      setPending({ act: 'compare', from: before.Version, to: version.Version })
                    }
                  />
                )}
                {mayWrite && (
                  <>
                    <ActButton
                      act={words.revert}
                      version={version}
                      onClick={() => setPending({ act: 'revert', version })}
                    />
                    <ActButton
                      act={words.edit}
                      version={version}
                      onClick={() => setPending({ act: 'edit', version })}
                    />
                  </>
                )}
              </div>
            </li>
          );
        })}
      </ol>
      <MoreButton query={query} text={words.more} />
      {pending && (
        <ActDialog
          place={place}
          pending={pending}
          versions={versions}
          onClose={() => setPending(null)}
        />
      )}
    </div>
  );
}

function ActDialog(props: {
  place: Place;
  pending: Pending;
  versions: readonly ListedVersion[];
  onClose: () => void;
}) {
  const { pending, versions, ...rest } = props;
  switch (pending.act) {
    case 'create':
      return <VersionDialog {...rest} version={null} />;
    case 'edit':
      return <VersionDialog {...rest} version={pending.version} />;
    case 'revert':
      return <RevertDialog {...rest} version={pending.version} />;
    case 'compare':
      return <CompareDialog {...rest} versions={versions} from={pending.from} to={pending.to} />;
  }
}

function VersionLine({
  version,
  path,
  place,
}: Omit<VersionsProps, 'mayWrite'> & { version: ListedVersion }) {
  const { Version: id, versionAlias: alias } = version;
  return (
    <>
      <Link
        to="/databases/$databaseId/assets/$assetId"
        params={place}
        search={{ file: path, version: id }}
        preload={false}
      >
        {words.named(id, visibleName(alias))}
      </Link>{' '}
      {version.isCurrent && <span className="tag">{words.current}</span>}
      {version.isArchived && <span className="tag">{words.archived}</span>}
      <p className="lines">
        <UserText text={version.Comment} />
      </p>
      <p className="faint">
        {words.by(
          visibleName(version.createdBy),
          formatDateTime(version.DateModified),
          version.fileCount,
        )}
      </p>
    </>
  );
}

/** An act whose name says for screen readers which version it is about. */
function ActButton(props: { act: string; version: ListedVersion; onClick: () => void }) {
  const { act, version, onClick } = props;
  return (
    <button
      type="button"
      className="small"
      aria-label={`${act}: ${words.name(version.Version)}`}
      onClick={onClick}
    >
      {act}
    </button>
  );
}
