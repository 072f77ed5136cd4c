import { Link } from '@tanstack/react-router';
import { assetTexts } from '../../texts/asset';
import { time } from '../../ui/formats';
import type { Place } from '../../viewer/sources';
import type { Asset, File } from './queries';

/** The version that the server gives to each new asset: nobody has created one. */
const NO_VERSION = '0';
const UNKNOWN = '\u00a0';

/** When a file was changed last; '' if there is none. */
export const newestOf = (files: readonly File[]): string =>
  files.reduce((newest, { dateCreatedCurrentVersion: at }) => {
    return at && Date.parse(at) > (Date.parse(newest) || 0) ? at : newest;
  }, '');

export function About(props: {
  place: Place;
  asset: Asset | undefined;
  tags: string[];
  changed: string | undefined;
}) {
  const { place, asset, tags, changed } = props;
  return (
    <dl className="pairs">
      <dt>{assetTexts.database}</dt>
      <dd>
        <Link to="/databases/$databaseId" params={{ databaseId: place.databaseId }}>
          {place.databaseId}
        </Link>
      </dd>
      <dt>{assetTexts.version}</dt>
      <dd>{versionOf(asset)}</dd>
      <dt>{assetTexts.changed}</dt>
      <dd>{changed === '' ? '–' : changed ? time(changed) : UNKNOWN}</dd>
      <dt>{assetTexts.tags}</dt>
      <dd className="tags">
        {tags.length
          ? tags.map((tag) => (
              <Link key={tag} to="/" search={{ facets: { list_tags: [tag] } }} className="tag">
                {tag}
              </Link>
            ))
          : asset && assetTexts.noTags}
      </dd>
    </dl>
  );
}

function versionOf(asset: Asset | undefined): string {
  if (!asset) return UNKNOWN;
  const { Version: number, versionAlias: alias } = asset.currentVersion;
  if (number === NO_VERSION) return assetTexts.noVersion;
  return alias ? `${number} (${alias})` : number;
}
