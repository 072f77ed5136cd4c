import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/errors';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { databasesTexts } from '../../texts/databases';
import { Failed } from '../../ui/Failed';
import { Failure } from '../../ui/Failure';
import { Name } from '../../ui/Name';
import { day } from '../../ui/formats';
import { Pictures } from '../asset/Pictures';
import '../asset/asset.css';
import { Describe } from './Describe';
import { databaseOf, newestIn, type Database as Details } from './queries';
import './database.css';

const words = databasesTexts;

/** A database: what it is for, and what was changed in it lately. */
export function Database() {
  const { databaseId } = useParams({ from: '/databases/$databaseId' });
  const found = useQuery(databaseOf(databaseId));
  const database = found.data;
  useEffect(() => {
    document.title = `${databaseId} · ${texts.product}`;
  }, [databaseId]);
  // A refetch that fails must not replace what somebody types.
  if (found.isError && !database) {
    const gone = found.error instanceof ApiError && [400, 403, 404].includes(found.error.status);
    if (!gone) return <Failure error={found.error} reset={() => void found.refetch()} />;
    return (
      <div className="notice" role="alert">
        <p>{words.gone}</p>
        <Link to="/" search={{}}>
          {texts.toFind}
        </Link>
      </div>
    );
  }
  return (
    <div className="database" key={databaseId}>
      <Head databaseId={databaseId} database={database} />
      {/* At once with the text above, which would move the pictures. */}
      {database && <Newest database={database} />}
    </div>
  );
}

function Head({ databaseId, database }: { databaseId: string; database: Details | undefined }) {
  const mayWrite = useMayWrite() ?? false;
  const [editing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  return (
    <header className="stack">
      <p>
        <Link to="/databases">{words.all}</Link>
      </p>
      <h1>
        <Name text={databaseId} />
      </h1>
      {!database && <p className="faint">{texts.loading}</p>}
      {database && editing && (
        <Describe
          database={database}
          onClose={() => {
            setEditing(false);
            setTimeout(() => edit.current?.focus());
          }}
        />
      )}
      {database && !editing && (
        <>
          <p dir="auto">{database.description}</p>
          <p className="faint">
            {words.assets(database.assetCount)} · {words.since(day(database.dateCreated))}
          </p>
        </>
      )}
      <div className="acts">
        <Link to="/" search={{ facets: { str_databaseid: [databaseId] } }} className="button">
          {words.search}
        </Link>
        {mayWrite && (
          <Link
            to="/upload"
            search={{ database: databaseId }}
            className="button primary"
            preload={false}
          >
            {words.upload}
          </Link>
        )}
        {mayWrite && database && !editing && (
          <button ref={edit} type="button" onClick={() => setEditing(true)}>
            {words.edit}
          </button>
        )}
      </div>
    </header>
  );
}

function Newest({ database: { databaseId, assetCount } }: { database: Details }) {
  const mayWrite = useMayWrite() ?? false;
  const found = useQuery(newestIn(databaseId));
  const denied = found.error instanceof ApiError && found.error.status === 403;
  if (denied || (assetCount === 0 && found.data?.items.length === 0)) {
    return (
      <div className="notice">
        <p>{denied || !mayWrite ? words.unseen : words.empty}</p>
        {mayWrite && !denied && <p>{words.emptyHelp}</p>}
      </div>
    );
  }
  return (
    <section aria-labelledby="newest">
      <h2 id="newest">{words.newest}</h2>
      {found.isPending && <p className="faint">{texts.loading}</p>}
      <Failed found={found} />
      {found.data?.lagging && (
        <p role="status" className="faint">
          {texts.find.indexing}
        </p>
      )}
      {found.data?.items.length === 0 && <p className="faint">{words.unseen}</p>}
      {found.data && <Pictures items={found.data.items} />}
    </section>
  );
}
