import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useCallback } from 'react';
import { sentence } from '../api/errors';
import type { Chosen } from '../pages/upload/chosen';
import { DROPPED, useDrops } from '../pages/upload/drops';
import { texts } from '../texts';
import { say } from './Toasts';

/** Files that are dropped on any page are shown on that of uploads; those on an asset go into it. */
export function DropAnywhere({ mayUpload }: { mayUpload: boolean }) {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const { databaseId: database, assetId: asset } = useParams({ strict: false });
  const drop = useCallback(
    async (files: Promise<Chosen[]>) => {
      try {
        cache.setQueryData(DROPPED, await files);
        await navigate({ to: '/upload', search: { database, asset } });
      } catch (error) {
        say(sentence(error));
      }
    },
    [cache, navigate, database, asset],
  );
  const over = useDrops(mayUpload ? drop : null);
  return over && <p className="drop-here">{texts.header.dropAnywhere}</p>;
}
