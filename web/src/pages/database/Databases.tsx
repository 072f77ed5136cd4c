import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { databases, useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { databasesTexts } from '../../texts/databases';
import { uploadTexts } from '../../texts/upload';
import { Failure } from '../../ui/Failure';
import { Name } from '../../ui/Name';
import './database.css';

const words = databasesTexts;

/** The databases that the user may see. */
export function Databases() {
  const found = useQuery(databases);
  const mayWrite = useMayWrite() ?? false;
  useEffect(() => {
    document.title = `${words.title} · ${texts.product}`;
  }, []);
  return (
    <div className="database">
      <h1>{words.title}</h1>
      {found.isPending && <p className="faint">{texts.loading}</p>}
      {found.isError && !found.data && (
        <Failure error={found.error} reset={() => void found.refetch()} />
      )}
      {found.data?.length === 0 && (
        <div className="notice">
          <p>{words.none}</p>
          <p>
            {mayWrite ? (
              <>
                {uploadTexts.createDatabase} <code>{uploadTexts.createDatabaseCommand}</code>
              </>
            ) : (
              texts.find.unseen.help
            )}
          </p>
        </div>
      )}
      <ul className="databases">
        {found.data?.map(({ databaseId, description, assetCount }) => (
          <li key={databaseId}>
            <Link to="/databases/$databaseId" params={{ databaseId }} preload={false}>
              <Name text={databaseId} />
            </Link>
            <span className="faint">{words.assets(assetCount)}</span>
            <p dir="auto">{description}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}
