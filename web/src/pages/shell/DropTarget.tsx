import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useCallback } from 'react';
import { errorText } from '../../api/errors';
import type { LocalFile } from '../upload/localFiles';
import { DROPPED_FILES, useFileDrop } from '../upload/useFileDrop';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { toast } from '../../ui/Toasts';

/** Files that are dropped on any page are shown on that of uploads; those on an asset go into it. */
export function DropTarget({ mayUpload }: { mayUpload: boolean }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { databaseId: database, assetId: asset } = useParams({ strict: false });
  const drop = useCallback(
    async (files: Promise<LocalFile[]>, folder?: string) => {
      try {
        cache.setQueryData(DROPPED_FILES, await files);
        await navigate({ to: '/upload', search: { database, asset, folder } });
      } catch (error) {
        toast(errorText(error));
      }
    },
    [cache, navigate, database, asset],
  );
  const { over, folder } = useFileDrop(mayUpload ? drop : null);
  if (!over) return null;
  const { dropAnywhere, dropInto } = texts.header;
  return (
    <p className="drop-here">
      {folder ? dropInto(visibleName(folder.slice(1, -1))) : dropAnywhere}
    </p>
  );
}
