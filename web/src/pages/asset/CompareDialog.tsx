import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useState } from 'react';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { formatBytes, formatNumber, visibleName } from '../../texts/formats';
import { versionsTexts } from '../../texts/versions';
import { compareTexts } from '../../texts/compare';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { MoreButton } from '../../ui/MoreButton';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { fileKind } from '../../ui/fileKinds';
import { encodeCompared } from '../compare/comparedFile';
import { FACT_PREFIX, factLabel, isReadable } from '../../ui/facts';
import {
  comparisonQuery,
  differencesSinceQuery,
  type Comparison,
  type FileDifference,
  type FileDifferences,
  type ListedVersion,
} from './versionQueries';

const words = versionsTexts;
/** Instead of a version: the files as they are now. */
export const NOW = 'now';
const KINDS = ['added', 'removed', 'changed'] as const;

/** What differs between two versions, or between one and the files as they are now. */
export function CompareDialog(props: {
  place: Place;
  versions: readonly ListedVersion[];
  from: string;
  to: string;
  onClose: () => void;
}) {
  const { place, versions } = props;
  const id = useId();
  const [from, setFrom] = useState(props.from);
  const [to, setTo] = useState(props.to);
  const options = versions.map(({ Version, versionAlias }) => (
    <option key={Version} value={Version}>
      {words.named(Version, visibleName(versionAlias))}
    </option>
  ));
  return (
    <Dialog title={words.compareTitle} onClose={props.onClose}>
      <label htmlFor={`${id}-from`}>{words.from}</label>
      <select id={`${id}-from`} value={from} onChange={(event) => setFrom(event.target.value)}>
        {options}
      </select>
      <label htmlFor={`${id}-to`}>{words.to}</label>
      <select id={`${id}-to`} value={to} onChange={(event) => setTo(event.target.value)}>
        <option value={NOW}>{words.now}</option>
        {options}
      </select>
      <div className="differences">
        {to === NOW ? (
          <Since key={from} place={place} from={from} />
        ) : (
          <Between key={`${from}/${to}`} place={place} from={from} to={to} />
        )}
      </div>
      <div className="acts">
        <CloseButton text={texts.close} first />
      </div>
    </Dialog>
  );
}

function Since({ place, from }: { place: Place; from: string }) {
  const query = useQuery(differencesSinceQuery(place, from));
  if (!query.data) return <Pending query={query} />;
  const isSame = KINDS.every((kind) => !query.data[kind].length);
  return (
    <>
      <p role="status">{isSame && words.sameFiles}</p>
      <FileLists differences={query.data} compare={{ place, from, to: NOW }} />
    </>
  );
}

function Between({ place, from, to }: { place: Place; from: string; to: string }) {
  const query = useInfiniteQuery(comparisonQuery(place, from, to));
  if (!query.data) return <Pending query={query} />;
  const differences = toDifferences(query.data.pages);
  const { files, records, facts } = differences;
  const isSame = KINDS.every((kind) => !files[kind].length) && !records.length && !facts.length;
  return (
    <>
      <p role="status">{isSame && !query.hasNextPage && words.same}</p>
      <FileLists differences={files} compare={{ place, from, to }} />
      <ValueList
        title={words.metadata}
        values={records.filter(({ isAttribute }) => !isAttribute)}
      />
      <ValueList
        title={words.attributes}
        values={records.filter(({ isAttribute }) => isAttribute)}
      />
      <ValueList title={words.geometry} values={facts} />
      <InlineError query={query} />
      <MoreButton query={query} text={words.moreDifferences} />
    </>
  );
}

function Pending({ query }: { query: { error: unknown; refetch: () => unknown } }) {
  return query.error ? <InlineError query={query} /> : <p role="status">{texts.loading}</p>;
}

/** Files that differ, with their sizes. */
export function FileLists(props: { differences: FileDifferences; compare: Compared }) {
  const { differences, compare } = props;
  return KINDS.map((kind) => (
    <FileList
      key={kind}
      title={words.differences[kind](differences[kind].length)}
      files={differences[kind]}
      compare={compare}
    />
  ));
}

/** The versions of which files are listed. */
interface Compared {
  place: Place;
  from: string;
  to: string;
}

export function FileList(props: {
  title: string;
  files: readonly FileDifference[];
  compare?: Compared;
}) {
  const { title, files, compare } = props;
  if (!files.length) return null;
  const size = (bytes: number | null) => (bytes === null ? words.nothing : formatBytes(bytes));
  return (
    <>
      <h3>{title}</h3>
      <ul className="names">
        {files.map(({ path, before, after, versions }) => (
          <li key={path}>
            <UserText text={path.replace(/^\//, '')} />{' '}
            <span className="faint">
              {before !== null && after !== null
                ? words.changedTo(size(before), size(after))
                : size(after ?? before)}
            </span>{' '}
            {compare && versions && fileKind(path) === 'model' && (
              <CompareLink compare={compare} path={path} versions={versions} />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Leads to both contents of a model side by side. */
function CompareLink(props: {
  compare: Compared;
  path: string;
  versions: NonNullable<FileDifference['versions']>;
}) {
  const { place, from, to } = props.compare;
  const { path, versions } = props;
  const side = (versionId: string | undefined, assetVersionId: string) =>
    encodeCompared({
      ...place,
      path,
      earlier: versionId ? { versionId, assetVersionId } : undefined,
    });
  return (
    <Link
      to="/compare"
      search={{ left: side(versions.before, from), right: side(versions.after, to) }}
      aria-label={compareTexts.openFile(visibleName(path.slice(1)))}
      preload={false}
    >
      {compareTexts.open}
    </Link>
  );
}

interface ValueDifference {
  id: string;
  path: string;
  name: string;
  before: string;
  after: string;
}

function ValueList({ title, values }: { title: string; values: readonly ValueDifference[] }) {
  if (!values.length) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="names">
        {values.map(({ id, path, name, before, after }) => (
          <li key={id}>
            <UserText text={name} />
            {path !== '/' && (
              <>
                {' '}
                <span className="faint">
                  <UserText text={path.replace(/^\//, '')} />
                </span>
              </>
            )}
            <span>
              {words.changedTo(
                visibleName(before) || words.nothing,
                visibleName(after) || words.nothing,
              )}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function toDifferences(pages: readonly Comparison[]) {
  const files: FileDifferences = { added: [], removed: [], changed: [] };
  for (const kind of KINDS)
    for (const page of pages)
      files[kind].push(
        ...page.files[kind].map(({ relativeKey, from, to }) => ({
          path: relativeKey,
          before: from?.size ?? null,
          after: to?.size ?? null,
          versions: from && to ? { before: from.versionId, after: to.versionId } : undefined,
        })),
      );
  const records = pages.flatMap((page) =>
    (['metadata', 'attributes'] as const).flatMap((part) =>
      KINDS.flatMap((kind) => page[part][kind])
        // Facts of the inspection are among the attributes, and listed as numbers.
        .filter(({ metadataKey }) => part === 'metadata' || !metadataKey.startsWith(FACT_PREFIX))
        .map(({ filePath, metadataKey, from, to }) => ({
          id: `${part} ${filePath} ${metadataKey}`,
          isAttribute: part === 'attributes',
          path: filePath,
          name: metadataKey,
          before: from?.metadataValue ?? '',
          after: to?.metadataValue ?? '',
        })),
    ),
  );
  const facts = pages
    .flatMap((page) => page.geometry)
    .filter(({ fact }) => isReadable(fact))
    .map(({ filePath, fact, from, to }) => ({
      id: `${filePath} ${fact}`,
      path: filePath,
      name: factLabel(fact),
      before: formatFactValue(from),
      after: formatFactValue(to),
    }));
  return { files, records, facts };
}

function formatFactValue(value: number | boolean | string | null | undefined): string {
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'boolean') return value ? texts.find.yes : texts.find.no;
  return value ?? '';
}
