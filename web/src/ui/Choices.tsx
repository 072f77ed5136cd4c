import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { api, reply } from '../api/client';
import { sentence } from '../api/errors';
import { databases } from '../api/queries';
import { assetOf } from '../pages/asset/queries';
import { cardOf, type Hit } from '../pages/find/hits';
import { texts } from '../texts';

interface Choice {
  value: string;
  onChange: (value: string) => void;
}

export function DatabaseChoice({ value, onChange }: Choice) {
  const id = useId();
  const known = useQuery(databases);
  return (
    <>
      <label htmlFor={id}>{texts.upload.database}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{texts.upload.chooseDatabase}</option>
        {known.data?.map((each) => (
          <option key={each.databaseId}>{each.databaseId}</option>
        ))}
      </select>
      {known.isError && <p className="failure">{sentence(known.error)}</p>}
    </>
  );
}

/** An asset of a database, found by words. */
export function AssetChoice({ databaseId, value, onChange }: Choice & { databaseId: string }) {
  const id = useId();
  const [words, setWords] = useState('');
  const found = useQuery({
    queryKey: ['assets named', databaseId, words],
    queryFn: async ({ signal }) => {
      const reached = await reply(
        api.POST('/search', {
          body: {
            query: words,
            entityTypes: ['asset'],
            size: 20,
            aggregations: false,
            facetChoices: [{ facet: 'str_databaseid', values: [databaseId] }],
          },
          signal,
        }),
      );
      return reached.hits.hits.map((hit) => cardOf(hit as Hit));
    },
    enabled: databaseId !== '',
  });
  const listed = found.data ?? [];
  const missing = value !== '' && !listed.some((each) => each.assetId === value);
  const named = useQuery({ ...assetOf({ databaseId, assetId: value }), enabled: missing });
  return (
    <>
      <label htmlFor={`${id}-words`}>{texts.upload.findAsset}</label>
      <input
        id={`${id}-words`}
        type="search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <label htmlFor={`${id}-asset`}>{texts.upload.asset}</label>
      <select id={`${id}-asset`} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{texts.upload.chooseAsset}</option>
        {missing && <option value={value}>{named.data?.assetName ?? texts.loading}</option>}
        {listed.map((each) => (
          <option key={each.assetId} value={each.assetId}>
            {each.name}
          </option>
        ))}
      </select>
      {found.isError && <p className="failure">{sentence(found.error)}</p>}
    </>
  );
}
