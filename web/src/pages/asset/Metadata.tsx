import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { assetTexts } from '../../texts/asset';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import type { Place } from '../../api/downloads';
import { metadataQuery } from './metadataQueries';

/** The metadata of an asset. Values are text: addresses in them are no links. */
export function Metadata({ place }: { place: Place }) {
  const query = useQuery(metadataQuery(place));
  if (!query.isError && !query.data?.length) return null;
  return (
    <section aria-labelledby="metadata">
      <h2 id="metadata">{assetTexts.metadata}</h2>
      <InlineError query={query} />
      <dl className="pairs">
        {query.data?.map(({ name, value }) => (
          <Fragment key={name}>
            <dt>
              <UserText text={name} />
            </dt>
            <dd className="lines">
              <UserText text={value} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
