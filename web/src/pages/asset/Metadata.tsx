import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { assetTexts } from '../../texts/asset';
import { Failed } from '../../ui/Failed';
import { Name } from '../../ui/Name';
import type { Place } from '../../viewer/sources';
import { metadataOf } from './metadataQueries';

/** The metadata of an asset. Values are text: addresses in them are no links. */
export function Metadata({ place }: { place: Place }) {
  const found = useQuery(metadataOf(place));
  if (!found.isError && !found.data?.length) return null;
  return (
    <section aria-labelledby="metadata">
      <h2 id="metadata">{assetTexts.metadata}</h2>
      <Failed found={found} />
      <dl className="pairs">
        {found.data?.map(({ name, value }) => (
          <Fragment key={name}>
            <dt>
              <Name text={name} />
            </dt>
            <dd className="lines">
              <Name text={value} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
