import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { assetQuery } from '../../api/assets';
import { texts } from '../../texts';
import { compareTexts as words } from '../../texts/compare';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { fileName } from '../../ui/fileKinds';
import { CameraBond, type Seat } from '../../viewer/bond';
import { Stage } from '../../viewer/Stage';
import { decodeCompared, type ComparedFile } from './comparedFile';
import './compare.css';

/** Two models side by side, which turn together. */
export function ComparePage() {
  const { left = '', right = '' } = useSearch({ from: '/compare' });
  const files = useMemo(
    () => [decodeCompared(left), decodeCompared(right)] as const,
    [left, right],
  );
  useEffect(() => {
    document.title = `${words.title} · ${texts.product}`;
  }, []);
  const [first, second] = files;
  if (!first || !second) {
    return (
      <div className="notice" role="alert">
        <h1>{words.wrong}</h1>
        <Link to="/" search={{}}>
          {texts.toFind}
        </Link>
      </div>
    );
  }
  return (
    <div className="compare">
      <h1>{words.title}</h1>
      <Sides key={`${left} ${right}`} files={[first, second]} />
    </div>
  );
}

function Sides({ files }: { files: readonly [ComparedFile, ComparedFile] }) {
  const [first, second] = files;
  const isSame = (['databaseId', 'assetId', 'path'] as const).every(
    (name) => first[name] === second[name],
  );
  // What has moved from one content to the next is seen to have moved.
  const bond = useMemo(() => new CameraBond(isSame), [isSame]);
  return (
    <>
      <div className="sides">
        {files.map((file, at) => (
          <Side key={at} file={file} seat={bond.seats[at]} />
        ))}
      </div>
      <p className="faint">{isSame ? words.inPlace : words.centred}</p>
      <DifferingParts bond={bond} />
    </>
  );
}

/** How many parts differ; their colours say which. */
function DifferingParts({ bond }: { bond: CameraBond }) {
  const counts = useSyncExternalStore(bond.subscribe, bond.differences);
  const [isColored, setIsColored] = useState(false);
  useEffect(() => bond.showDifferences(isColored), [bond, counts, isColored]);
  if (!counts) return null;
  const { removed, added, changed } = counts;
  return (
    <div className="differing">
      <p role="status">
        {removed + added + changed ? words.differing(removed, added, changed) : words.sameParts}
      </p>
      {removed + added + changed > 0 && (
        <label className="check">
          <input
            type="checkbox"
            checked={isColored}
            onChange={(event) => setIsColored(event.target.checked)}
          />
          {words.colored}
        </label>
      )}
    </div>
  );
}

function Side({ file, seat }: { file: ComparedFile; seat: Seat | undefined }) {
  const { databaseId, assetId, path, earlier } = file;
  const asset = useQuery(assetQuery({ databaseId, assetId }));
  const isOfVersion = earlier?.assetVersionId !== undefined;
  return (
    <section aria-label={`${asset.data?.assetName ?? assetId}: ${fileName(path)}`}>
      <h2>
        <Link
          to="/databases/$databaseId/assets/$assetId"
          params={{ databaseId, assetId }}
          search={{
            file: path,
            version: earlier?.assetVersionId,
            content: isOfVersion ? undefined : earlier?.versionId,
          }}
          preload={false}
        >
          <UserText text={asset.data?.assetName ?? assetId} />
        </Link>
      </h2>
      <p className="faint">
        <UserText text={path.slice(1)} />{' '}
        {earlier?.assetVersionId !== undefined
          ? words.ofVersion(earlier.assetVersionId)
          : earlier
            ? words.earlier
            : words.newest}
      </p>
      <InlineError query={asset} />
      <Stage
        databaseId={databaseId}
        assetId={assetId}
        file={{ path, size: null, earlier }}
        picture={{}}
        seat={seat}
      />
    </section>
  );
}
