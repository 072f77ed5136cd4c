import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api/errors';
import { useMayWrite } from '../../api/queries';
import { texts } from '../../texts';
import { databasesTexts } from '../../texts/databases';
import { InlineError } from '../../ui/InlineError';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { UserText } from '../../ui/UserText';
import { formatDate } from '../../texts/formats';
import { GiveAccessButton } from '../access/GiveAccessButton';
import { PictureLinks, WaitingPictures } from '../asset/PictureLinks';
import { DescriptionEditor } from './DescriptionEditor';
import { databaseQuery, newestAssetsQuery, type Database as Details } from './queries';
import './database.css';

const words = databasesTexts;

/** A database: what it is for, and what was changed in it lately. */
export function DatabasePage() {
  const { databaseId } = useParams({ from: '/databases/$databaseId' });
  const query = useQuery(databaseQuery(databaseId));
  const database = query.data;
  useEffect(() => {
    document.title = `${databaseId} · ${texts.product}`;
  }, [databaseId]);
  // A refetch that fails must not replace what someone types.
  if (query.isError && !database) {
    const isNotFound =
      query.error instanceof ApiError && [400, 403, 404].includes(query.error.status);
    if (!isNotFound)
      return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
    return (
      <div className="notice" role="alert">
        <h1>{words.gone}</h1>
        <p>{texts.errors.askForRole}</p>
        <Link to="/" search={{}}>
          {texts.toFind}
        </Link>
      </div>
    );
  }
  return (
    <div className="database" key={databaseId}>
      <DatabaseHeader databaseId={databaseId} database={database} />
      {/* At once with the text above, which would move the pictures. */}
      {database && <NewestAssets database={database} />}
    </div>
  );
}

function DatabaseHeader({
  databaseId,
  database,
}: {
  databaseId: string;
  database: Details | undefined;
}) {
  const mayWrite = useMayWrite() ?? false;
  const [editing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  return (
    <header className="stack">
      <p>
        <Link to="/databases" activeOptions={{ exact: true }}>
          {words.all}
        </Link>
      </p>
      <h1>
        <UserText text={databaseId} />
      </h1>
      {!database && <p className="faint">{texts.loading}</p>}
      {database && editing && (
        <DescriptionEditor
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
            {words.assets(database.assetCount)} · {words.since(formatDate(database.dateCreated))}
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
        <GiveAccessButton name={databaseId} databaseId={databaseId} />
        {mayWrite && database && !editing && (
          <button ref={edit} type="button" onClick={() => setEditing(true)}>
            {words.edit}
          </button>
        )}
      </div>
    </header>
  );
}

function NewestAssets({ database: { databaseId, assetCount } }: { database: Details }) {
  const mayWrite = useMayWrite() ?? false;
  const query = useQuery(newestAssetsQuery(databaseId));
  const denied = query.error instanceof ApiError && query.error.status === 403;
  if (denied || (assetCount === 0 && query.data?.items.length === 0)) {
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
      {query.isPending && <WaitingPictures />}
      <InlineError query={query} />
      {query.data?.lagging && (
        <p role="status" className="faint">
          {texts.find.indexing}
        </p>
      )}
      {query.data?.items.length === 0 && <p className="faint">{words.unseen}</p>}
      {query.data && <PictureLinks items={query.data.items} />}
    </section>
  );
}
