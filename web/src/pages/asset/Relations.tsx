import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import { factsOf } from '../../api/facts';
import { relationsTexts } from '../../texts/relations';
import { percent } from '../../ui/formats';
import { Failed, type Query } from '../../ui/Failed';
import { Name } from '../../ui/Name';
import { nameOf } from '../../viewer/kinds';
import type { Place } from '../../viewer/sources';
import { showStage } from './FileTree';
import { Pictures } from './Pictures';
import { filesOf } from './queries';
import {
  isLacking,
  linksOf,
  referencesOf,
  similarTo,
  usersOf,
  type Reference,
  type Shown,
} from './relationQueries';

const words = relationsTexts;

function Section(props: { title: string; failed?: Query; children?: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{props.title}</h2>
      {props.failed ? <Failed found={props.failed} /> : props.children}
    </section>
  );
}

/** What a file needs: other files, of which some may be missing. */
export function Needs(props: { place: Place; path: string; mayUpload: boolean }) {
  const { place, path } = props;
  const found = useQuery(referencesOf(place, path));
  if (found.isError) return <Section title={words.needs} failed={found} />;
  const references = found.data?.references ?? [];
  if (!references.length) return null;
  const lacking = references.filter(isLacking);
  const others = references.filter((each) => !isLacking(each));
  return (
    <Section title={words.needs}>
      {lacking.length > 0 && <p className="failure">{words.lacking(lacking.length)}</p>}
      <ul className="needs">
        {[...lacking, ...others].map((each, at) => (
          <Need key={at} place={place} reference={each} />
        ))}
      </ul>
      {Boolean(found.data?.omitted) && (
        <p className="faint">{words.omitted(found.data?.omitted ?? 0)}</p>
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

function Need({ place, reference }: { place: Place; reference: Reference }) {
  const { path, filePath, kind, state, circular } = reference;
  const notes = [words.states[state], circular ? words.circular : ''].filter(Boolean);
  return (
    <li className={isLacking(reference) ? 'lacking' : undefined}>
      {filePath && !isLacking(reference) ? (
        <FileLink place={place} path={filePath} />
      ) : (
        <Name text={path} />
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
      onClick={showStage}
      preload={false}
    >
      <Name text={path.replace(/^\//, '')} />
    </Link>
  );
}

/** Where a file and its asset are used, what the asset consists of, and what is like it. */
export function Relations({ place, path }: { place: Place; path: string | undefined }) {
  const links = useQuery(linksOf(place));
  const { parents = [], children = [], related = [] } = links.data ?? {};
  return (
    <>
      {links.isError && <Section title={words.usedIn} failed={links} />}
      {path && <Users place={place} path={path} />}
      <Assets title={words.usedIn} items={parents} />
      <Assets title={words.parts} items={children} />
      <Assets title={words.related} items={related} />
      {path && <Similar place={place} path={path} />}
    </>
  );
}

function Assets({ title, items }: { title: string; items: Shown[] }) {
  if (!items.length) return null;
  return (
    <Section title={title}>
      <Pictures items={items} />
    </Section>
  );
}

function Users({ place, path }: { place: Place; path: string }) {
  const found = useQuery(usersOf(place, path));
  if (found.isError) return <Section title={words.usedBy} failed={found} />;
  if (!found.data?.length) return null;
  return (
    <Section title={words.usedBy}>
      <ul className="needs">
        {found.data.map((each) => (
          <li key={each}>
            <FileLink place={place} path={each} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Similar({ place, path }: { place: Place; path: string }) {
  const facts = useQuery(factsOf(place, path));
  // Only a file whose surface was read has a shape to compare.
  const found = useQuery({ ...similarTo(place, path), enabled: facts.data?.has('shape') ?? false });
  const files = useInfiniteQuery(filesOf(place));
  if (found.isError) return <Section title={words.similar} failed={found} />;
  // The index follows a change of files later: of this asset, only files that it still has.
  const pages = files.hasNextPage ? undefined : files.data?.pages;
  const own =
    pages && new Set(pages.flatMap(({ items }) => items.map((each) => each.relativePath)));
  const alike = (found.data ?? []).filter(
    (each) => each.assetId !== place.assetId || (own?.has(each.filePath) ?? true),
  );
  const items = alike.map(({ similarity, filePath, assetName, ...each }) => ({
    ...each,
    path: filePath,
    name: each.assetId === place.assetId ? nameOf(filePath) : assetName,
    note: words.alike(percent(similarity)),
  }));
  return <Assets title={words.similar} items={items} />;
}
