import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import { factsQuery } from '../../api/fileFacts';
import { relationsTexts } from '../../texts/relations';
import { formatPercent } from '../../texts/formats';
import { InlineError, type FailedQuery } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { fileName } from '../../ui/fileKinds';
import type { Place } from '../../api/downloads';
import { scrollToStage } from './FileTree';
import { PictureLinks } from './PictureLinks';
import { filesQuery } from '../../api/assets';
import {
  isMissing,
  linksQuery,
  referencesQuery,
  similarFilesQuery,
  dependentsQuery,
  type Reference,
  type LinkedItem,
} from './relationQueries';

const words = relationsTexts;

function Section(props: { title: string; failed?: FailedQuery; children?: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{props.title}</h2>
      {props.failed ? <InlineError query={props.failed} /> : props.children}
    </section>
  );
}

/** What a file needs: other files, of which some may be missing. */
export function References(props: { place: Place; path: string; mayUpload: boolean }) {
  const { place, path } = props;
  const query = useQuery(referencesQuery(place, path));
  if (query.isError) return <Section title={words.needs} failed={query} />;
  const references = query.data?.references ?? [];
  if (!references.length) return null;
  const lacking = references.filter(isMissing);
  const others = references.filter((reference) => !isMissing(reference));
  return (
    <Section title={words.needs}>
      {lacking.length > 0 && <p className="failure">{words.lacking(lacking.length)}</p>}
      <ul className="needs">
        {[...lacking, ...others].map((reference, at) => (
          <ReferenceRow key={at} place={place} reference={reference} />
        ))}
      </ul>
      {Boolean(query.data?.omitted) && (
        <p className="faint">{words.omitted(query.data?.omitted ?? 0)}</p>
      )}
      {lacking.length > 0 && props.mayUpload && (
        <Link
          to="/upload"
          search={{ database: place.databaseId, asset: place.assetId }}
          preload={false}
        >
          {words.upload}
        </Link>
      )}
    </Section>
  );
}

function ReferenceRow({ place, reference }: { place: Place; reference: Reference }) {
  const { path, filePath, kind, state, circular } = reference;
  const notes = [words.states[state], circular ? words.circular : ''].filter(Boolean);
  return (
    <li className={isMissing(reference) ? 'lacking' : undefined}>
      {filePath && !isMissing(reference) ? (
        <FileLink place={place} path={filePath} />
      ) : (
        <UserText text={path} />
      )}{' '}
      <span className="faint">{[words.kinds[kind], ...notes].join(', ')}</span>
    </li>
  );
}

function FileLink({ place, path }: { place: Place; path: string }) {
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={place}
      search={{ file: path }}
      resetScroll={false}
      onClick={scrollToStage}
      preload={false}
    >
      <UserText text={path.replace(/^\//, '')} />
    </Link>
  );
}

/** Where a file and its asset are used, what the asset consists of, and what is like it. */
export function Relations({ place, path }: { place: Place; path: string | undefined }) {
  const links = useQuery(linksQuery(place));
  const { parents = [], children = [], related = [] } = links.data ?? {};
  return (
    <>
      {links.isError && <Section title={words.usedIn} failed={links} />}
      {path && <UsedBy place={place} path={path} />}
      <LinkedAssets title={words.usedIn} items={parents} />
      <LinkedAssets title={words.parts} items={children} />
      <LinkedAssets title={words.related} items={related} />
      {path && <SimilarFiles place={place} path={path} />}
    </>
  );
}

function LinkedAssets({ title, items }: { title: string; items: LinkedItem[] }) {
  if (!items.length) return null;
  return (
    <Section title={title}>
      <PictureLinks items={items} />
    </Section>
  );
}

function UsedBy({ place, path }: { place: Place; path: string }) {
  const query = useQuery(dependentsQuery(place, path));
  if (query.isError) return <Section title={words.usedBy} failed={query} />;
  if (!query.data?.length) return null;
  return (
    <Section title={words.usedBy}>
      <ul className="needs">
        {query.data.map((dependent) => (
          <li key={dependent}>
            <FileLink place={place} path={dependent} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function SimilarFiles({ place, path }: { place: Place; path: string }) {
  const facts = useQuery(factsQuery(place, path));
  // Only a file whose surface was read has a shape to compare.
  const query = useQuery({
    ...similarFilesQuery(place, path),
    enabled: facts.data?.has('shape') ?? false,
  });
  const files = useInfiniteQuery(filesQuery(place));
  if (query.isError) return <Section title={words.similar} failed={query} />;
  // The index follows a change of files later: of this asset, only files that it still has.
  const pages = files.hasNextPage ? undefined : files.data?.pages;
  const own =
    pages && new Set(pages.flatMap(({ items }) => items.map((item) => item.relativePath)));
  const alike = (query.data ?? []).filter(
    (item) => item.assetId !== place.assetId || (own?.has(item.filePath) ?? true),
  );
  const items = alike.map(({ similarity, filePath, assetName, ...item }) => ({
    ...item,
    path: filePath,
    name: item.assetId === place.assetId ? fileName(filePath) : assetName,
    note: words.alike(formatPercent(similarity)),
  }));
  return <LinkedAssets title={words.similar} items={items} />;
}
