import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { factsQuery, notInspectedQuery } from '../../api/fileFacts';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { compareFacts, factLabel, isReadable } from '../../ui/facts';
import { formatDimensions, formatFactValue } from '../../ui/units';
import type { Place } from '../../api/downloads';

/** Shown as the dimensions. */
const HIDDEN = /^(metresPerUnit|size[XYZ]|width|height)$/;

const INSPECTION = 2 * 60_000;
const SOON = 4_000;
/** Whether the file is so new that it may still be inspected. */
const isFresh = (since: string | null | undefined): boolean =>
  Date.now() - Date.parse(since ?? '') < INSPECTION;

/** What the product has read from a file; of a new file, as soon as that is known. */
export function FileFacts(props: { place: Place; path: string; since?: string | null }) {
  const { place, path, since } = props;
  const cache = useQueryClient();
  const waited = useRef(false);
  const soon = isFresh(since) ? SOON : false;
  const factsResult = useQuery({
    ...factsQuery(place, path),
    refetchInterval: (query) => query.state.data?.size === 0 && soon,
  });
  const size = factsResult.data?.size;
  const reason = useQuery({
    ...notInspectedQuery(place, path),
    enabled: size === 0,
    refetchInterval: (query) => !query.state.data && soon,
  });
  useEffect(() => {
    if (size && waited.current) {
      // With the facts come the picture and the references; what is shown remains.
      void cache.invalidateQueries({
        queryKey: ['files', place.databaseId, place.assetId],
        predicate: ({ queryKey }) => queryKey[3] !== 'address',
      });
    }
    waited.current = size === 0;
  }, [size, cache, place]);
  if (factsResult.isPending) return <p className="faint">{texts.loading}</p>;
  if (!factsResult.data) return <InlineError query={factsResult} />;
  const facts = factsResult.data;
  const extent = formatDimensions(facts);
  // A count of nothing says nothing: no bones, no missing textures.
  const rows = [...facts]
    .filter(([name, value]) => isReadable(name) && !HIDDEN.test(name) && value !== '0')
    .sort(([a], [b]) => compareFacts(a, b));
  if (!rows.length) {
    if (reason.isPending) return <p className="faint">{texts.loading}</p>;
    const unknown = soon ? assetTexts.inspecting : assetTexts.noFacts;
    return <p className="faint">{reason.data ? `${reason.data}.` : unknown}</p>;
  }
  return (
    <dl className="pairs">
      {extent && (
        <>
          <dt>{assetTexts.dimensions}</dt>
          <dd>{extent}</dd>
        </>
      )}
      {rows.map(([name, value]) => (
        <FactRow key={name} name={name} value={value} facts={facts} />
      ))}
    </dl>
  );
}

function FactRow(props: { name: string; value: string; facts: ReadonlyMap<string, string> }) {
  const { name, value, facts } = props;
  return (
    <>
      <dt>{factLabel(name)}</dt>
      <dd>
        <UserText text={formatFactValue(name, value, facts)} />
      </dd>
    </>
  );
}
