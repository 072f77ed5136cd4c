import { useQuery } from '@tanstack/react-query';
import { assetQuery } from '../../api/assets';
import type { Place } from '../../api/downloads';
import { LazyDialog } from '../../ui/LazyDialog';
import { lazyComponent } from '../../ui/lazyComponent';
import { FileVersions } from './FileVersions';

const DownloadDialog = lazyComponent(() => import('../find/DownloadDialog'), 'DownloadDialog');

export interface OpenedDialog {
  transfer: 'versions' | 'zip';
  path: string;
}

/** The versions of a file, or the download of a folder; `/` is the whole asset. */
export function TransferDialog(
  props: OpenedDialog & { place: Place; mayWrite: boolean; onClose: () => void },
) {
  const { transfer, path, place, onClose } = props;
  const asset = useQuery(assetQuery(place));
  if (transfer === 'versions') return <FileVersions {...props} />;
  const name = asset.data?.assetName ?? place.assetId;
  const card = { ...place, id: `${place.databaseId}:${place.assetId}`, name };
  return (
    <LazyDialog onClose={onClose}>
      <DownloadDialog cards={[card]} folder={path === '/' ? undefined : path} onClose={onClose} />
    </LazyDialog>
  );
}
