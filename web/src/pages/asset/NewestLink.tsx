import { Link } from '@tanstack/react-router';
import type { Place } from '../../api/downloads';
import { versionsTexts } from '../../texts/versions';

const words = versionsTexts;
const ROUTE = '/databases/$databaseId/assets/$assetId';

/** Leads to the files as they are now. */
export function NewestLink({ place, path }: { place: Place; path: string | undefined }) {
  return (
    <Link to={ROUTE} params={place} search={{ file: path }} className="button" preload={false}>
      {words.newest}
    </Link>
  );
}
