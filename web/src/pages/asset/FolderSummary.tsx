import { useQuery } from '@tanstack/react-query';
import type { Place } from '../../api/downloads';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';
import { folderContentQuery } from './folders';

/** How many files a folder has. */
export function FolderSummary({ place, path }: { place: Place; path: string }) {
  const { data, error, isPending } = useQuery(folderContentQuery(place, path));
  if (isPending) return <p className="faint">{texts.loading}</p>;
  if (!data) return <p className="failure">{errorText(error)}</p>;
  return <p>{filesTexts.holds(data.files, data.archived)}</p>;
}
