import { useQuery } from '@tanstack/react-query';
import type { Place } from '../../api/downloads';
import { formatDateTime } from '../../texts/formats';
import { versionsTexts } from '../../texts/versions';
import { DownloadButton } from './AssetButtons';
import { NewestLink } from './NewestLink';
import { fileVersionsQuery } from './versionQueries';

const words = versionsTexts;

/** Says that an earlier content of a file is shown, and leads back to the newest one. */
export function EarlierContent(props: { place: Place; path: string; versionId: string }) {
  const { place, path, versionId } = props;
  const versions = useQuery(fileVersionsQuery(place, path));
  const version = versions.data?.find((version) => version.versionId === versionId);
  return (
    <div className="notice" role="status">
      <p>
        {version ? words.contentOf(formatDateTime(version.lastModified)) : words.earlierContent}
      </p>
      <div className="acts">
        <DownloadButton place={place} path={path} version={{ versionId }} />
        <NewestLink place={place} path={path} />
      </div>
    </div>
  );
}
