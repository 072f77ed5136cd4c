import { useQuery } from '@tanstack/react-query';
import { Fragment, Suspense, useEffect, useId, useRef, useState } from 'react';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { visibleName } from '../../texts/formats';
import { mapTexts } from '../../texts/map';
import { metadataTexts } from '../../texts/metadata';
import { GEOGRAPHIC, linesOfValue, WHOLE, type Position } from '../../ui/earth';
import { ErrorBoundary } from '../../ui/ErrorBoundary';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { InlineError } from '../../ui/InlineError';
import { lazyComponent } from '../../ui/lazyComponent';
import { UserText } from '../../ui/UserText';
import type { Place } from '../../api/downloads';
import { formatValue, metadataQuery, warningsQuery, type MetadataField } from './metadataQueries';

const words = metadataTexts;
const EarthMap = lazyComponent(() => import('../../ui/EarthMap'), 'EarthMap');
const MetadataEditor = lazyComponent(() => import('./MetadataEditor'), 'MetadataEditor');

/** The metadata of an asset, or of one of its files. Values are text: addresses are no links. */
export function Metadata(props: { place: Place; path?: string; mayWrite: boolean }) {
  const { place, path } = props;
  const id = useId();
  const query = useQuery(metadataQuery(place, path));
  const [editing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    // Once the button is there again.
    if (wasEditing.current && !editing) edit.current?.focus();
    wasEditing.current = editing;
  }, [editing]);
  const fields = query.data?.fields.filter((field) => field.value) ?? [];
  const warnings = useQuery({
    ...warningsQuery(place),
    // A search may not find all of its places.
    enabled: path === undefined && fields.some(({ type }) => GEOGRAPHIC.test(type)),
  });
  const mayEdit = props.mayWrite && Boolean(query.data);
  if (!query.isError && !fields.length && !mayEdit) return null;
  const isOfFile = path !== undefined;
  return (
    <section aria-labelledby={id} className="metadata">
      <div className="acts">
        <h2 id={id}>{isOfFile ? words.ofFile : assetTexts.metadata}</h2>
        {mayEdit && !editing && (
          <button
            ref={edit}
            type="button"
            className="small quiet"
            aria-label={isOfFile ? words.editFile : words.edit}
            onClick={() => setEditing(true)}
          >
            {words.start}
          </button>
        )}
      </div>
      <InlineError query={query} />
      {editing && query.data ? (
        <ErrorBoundary fallback={(error, retry) => <ErrorNotice error={error} onRetry={retry} />}>
          <Suspense fallback={<p className="faint">{texts.loading}</p>}>
            <MetadataEditor
              place={place}
              path={path}
              metadata={query.data}
              onClose={() => setEditing(false)}
            />
          </Suspense>
        </ErrorBoundary>
      ) : (
        <>
          <Pairs fields={fields} />
          {warnings.data?.warnings.map((warning) => (
            <p key={warning} className="hint">
              {warning}.
            </p>
          ))}
        </>
      )}
    </section>
  );
}

/** Keys with their values as people read them. */
export function Pairs({ fields }: { fields: MetadataField[] }) {
  if (!fields.length) return <p className="faint">{words.none}</p>;
  return (
    <dl className="pairs">
      {fields.map(({ key, value, type }) => (
        <Fragment key={key}>
          <dt>
            <UserText text={key} />
          </dt>
          <dd className="lines">
            <UserText text={formatValue(value, type)} />
            <PlaceMap name={key} lines={linesOfValue(value, type)} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** Where on Earth a value is. */
function PlaceMap({ name, lines }: { name: string; lines: Position[][] }) {
  const [first] = lines.flat();
  if (!first) return null;
  return (
    <ErrorBoundary fallback={() => null}>
      <Suspense fallback={<span className="earth" />}>
        <EarthMap view={WHOLE} lines={lines} label={mapTexts.ofValue(visibleName(name), first)} />
      </Suspense>
    </ErrorBoundary>
  );
}
