import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { databases } from '../api/queries';
import { search, untilFound } from '../api/search';
import { assetOf } from '../pages/asset/queries';
import { cardOf, type Hit } from '../pages/find/hits';
import { texts } from '../texts';
import { uploadTexts } from '../texts/upload';
import { Failed } from './Failed';
import type { Marks } from './useRefusal';

interface Choice {
  value: string;
  marks?: ReturnType<Marks>;
  onChange: (value: string) => void;
}

export function DatabaseChoice({ value, marks, onChange }: Choice) {
  const id = useId();
  const known = useQuery(databases);
  return (
    <>
      <label htmlFor={id}>{uploadTexts.database}</label>
      <select id={id} {...marks} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{uploadTexts.chooseDatabase}</option>
        {known.data?.map((each) => (
          <option key={each.databaseId}>{each.databaseId}</option>
        ))}
      </select>
      <Failed found={known} />
    </>
  );
}

/** An asset of a database, found by words. */
export function AssetChoice(props: Choice & { databaseId: string }) {
  const { databaseId, value, marks, onChange } = props;
  const id = useId();
  const [words, setWords] = useState('');
  const found = useQuery({
    // As of all that a change of an asset changes.
    queryKey: ['search', 'named', databaseId, words],
    queryFn: async ({ signal }) => {
      const body = {
        query: words,
        entityTypes: ['asset' as const],
        size: 20,
        aggregations: false,
        facetChoices: [{ facet: 'str_databaseid', values: [databaseId] }],
      };
      const { reply, lagging } = await search(body, signal);
      return { cards: reply.hits.hits.map((hit) => cardOf(hit as Hit)), lagging };
    },
    refetchInterval: ({ state }) => untilFound(state.data),
    enabled: databaseId !== '',
  });
  const listed = found.data?.cards ?? [];
  const missing = value !== '' && !listed.some((each) => each.assetId === value);
  const named = useQuery({ ...assetOf({ databaseId, assetId: value }), enabled: missing });
  return (
    <>
      <label htmlFor={`${id}-words`}>{uploadTexts.findAsset}</label>
      <input
        id={`${id}-words`}
        type="search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
      />
      <label htmlFor={`${id}-asset`}>{uploadTexts.asset}</label>
      <select
        id={`${id}-asset`}
        {...marks}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{uploadTexts.chooseAsset}</option>
        {missing && (
          <option value={value}>
            {named.data?.assetName ?? (named.isError ? value : texts.loading)}
          </option>
        )}
        {listed.map((each) => (
          <option key={each.assetId} value={each.assetId}>
            {each.name}
          </option>
        ))}
      </select>
      {found.data?.lagging && (
        <p role="status" className="help">
          {texts.find.indexing}
        </p>
      )}
      <Failed found={found} />
      {missing && <Failed found={named} />}
    </>
  );
}
