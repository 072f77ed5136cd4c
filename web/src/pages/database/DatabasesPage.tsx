import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { databasesQuery, useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { databasesTexts } from '../../texts/databases';
import { uploadTexts } from '../../texts/upload';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { UserText } from '../../ui/UserText';
import './database.css';

const words = databasesTexts;

/** The databases that the user may see. */
export function DatabasesPage() {
  const query = useQuery(databasesQuery);
  const mayWrite = useMayWrite() ?? false;
  useEffect(() => {
    document.title = `${words.title} · ${texts.product}`;
  }, []);
  return (
    <div className="database">
      <h1>{words.title}</h1>
      {query.isPending && <p className="faint">{texts.loading}</p>}
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
        {query.data?.map(({ databaseId, description, assetCount }) => (
          <li key={databaseId}>
            <Link to="/databases/$databaseId" params={{ databaseId }} preload={false}>
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
