import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { databasesQuery, useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { databasesTexts } from '../../texts/databases';
import { uploadTexts } from '../../texts/upload';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { UserText } from '../../ui/UserText';
import { LazyDialog } from '../../ui/LazyDialog';
import { lazyComponent } from '../../ui/lazyComponent';
import { Picture } from '../../ui/Picture';
import type { PictureSource } from '../../api/pictures';
import { newestPicturesQuery } from './queries';
import './database.css';

const NewDatabase = lazyComponent(() => import('./NewDatabaseDialog'), 'NewDatabaseDialog');

const words = databasesTexts;

/** The databases that the user may see. */
export function DatabasesPage() {
  const query = useQuery(databasesQuery);
  const pictures = useQuery({ ...newestPicturesQuery, enabled: Boolean(query.data?.length) });
  const mayWrite = useMayWrite() ?? false;
  const [creating, setCreating] = useState(false);
  useEffect(() => {
    document.title = `${words.title} · ${texts.product}`;
  }, []);
  return (
    <div className="database">
      <h1>{words.title}</h1>
      {mayWrite && (
        <div className="acts">
          <button type="button" onClick={() => setCreating(true)}>
            {words.create}
          </button>
        </div>
      )}
      {creating && (
        <LazyDialog onClose={() => setCreating(false)}>
          <NewDatabase onClose={() => setCreating(false)} />
        </LazyDialog>
      )}
      {query.isPending && <p className="hidden">{texts.loading}</p>}
      {query.isError && !query.data && (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.data?.length === 0 && (
        <div className="notice">
          <p>{words.none}</p>
          <p>
            {mayWrite ? (
              <Link to="/upload" search={{}} className="button primary" preload={false}>
                {uploadTexts.createDatabase}
              </Link>
            ) : (
              texts.find.unseen.help
            )}
          </p>
        </div>
      )}
      <ul className="databases">
        {query.isPending && [1, 2, 3].map((at) => <WaitingDatabase key={at} />)}
        {query.data?.map(({ databaseId, description, assetCount }) => (
          <li key={databaseId}>
            <Link to="/databases/$databaseId" params={{ databaseId }} preload={false}>
              {assetCount > 0 && <NewestPictures pictures={pictures.data?.get(databaseId)} />}
              <UserText text={databaseId} />
            </Link>
            <span className="faint">{words.assets(assetCount)}</span>
            <p dir="auto">{description}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A card before it is known which databases there are. */
const WaitingDatabase = () => (
  <li aria-hidden="true">
    <NewestPictures pictures={undefined} />
    <br />
  </li>
);

/** The newest assets at a glance; their room is kept until it is known which they are. */
function NewestPictures({ pictures = [] }: { pictures: PictureSource[] | undefined }) {
  return (
    <span className="newest">
      {pictures.map((picture) => (
        <span key={picture.preview?.id} className="picture">
          <Picture picture={picture} small />
        </span>
      ))}
    </span>
  );
}
