import { Link } from '@tanstack/react-router';
import { assetTexts } from '../../texts/asset';
import { formatDateTime } from '../../texts/formats';
import type { Place } from '../../api/downloads';
import type { Asset, File } from '../../api/assets';
import { UserText } from '../../ui/UserText';

/** The version that the server gives to each new asset: no one has created one. */
const NO_VERSION = '0';
const UNKNOWN = '\u00a0';

/** When a file was changed last; '' if there is none. */
export const newestChange = (files: readonly File[]): string =>
  files.reduce((newest, { dateCreatedCurrentVersion: at }) => {
    return at && Date.parse(at) > (Date.parse(newest) || 0) ? at : newest;
  }, '');

export function AssetProperties(props: {
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
        <Link
          to="/databases/$databaseId"
          params={{ databaseId: place.databaseId }}
          activeOptions={{ exact: true }}
        >
          <UserText text={place.databaseId} />
        </Link>
      </dd>
      {asset && asset.currentVersion.Version !== NO_VERSION && (
        <>
          <dt>{assetTexts.version}</dt>
          <dd>{formatVersion(asset)}</dd>
        </>
      )}
      <dt>{assetTexts.changed}</dt>
      <dd>{changed === '' ? '–' : changed ? formatDateTime(changed) : UNKNOWN}</dd>
      <dt>{assetTexts.tags}</dt>
      <dd className="tags">
        {tags.length
          ? tags.map((tag) => (
              <Link key={tag} to="/" search={{ facets: { list_tags: [tag] } }} className="tag">
                <UserText text={tag} />
              </Link>
            ))
          : asset && assetTexts.noTags}
      </dd>
    </dl>
  );
}

function formatVersion(asset: Asset): string {
  const { Version: number, versionAlias: alias } = asset.currentVersion;
  return alias ? `${number} (${alias})` : number;
}
