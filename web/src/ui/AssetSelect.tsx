import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { databasesQuery } from '../api/queries';
import { search, pollWhileLagging } from '../api/search';
import { assetQuery } from '../api/assets';
import { toCard, type Hit } from '../api/hits';
import { texts } from '../texts';
import { uploadTexts } from '../texts/upload';
import { InlineError } from './InlineError';
import type { FieldProps } from './useFormError';

interface SelectProps {
  value: string;
  fieldProps?: ReturnType<FieldProps>;
  onChange: (value: string) => void;
}

export function DatabaseSelect(
  props: SelectProps & {
    /** A choice beside the databases: one that is created. */
    created?: { value: string; name: string };
  },
) {
  const { value, fieldProps, created, onChange } = props;
  const id = useId();
  const databases = useQuery(databasesQuery);
  return (
    <>
      <label htmlFor={id}>{uploadTexts.database}</label>
      <select
        id={id}
        {...fieldProps}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{uploadTexts.chooseDatabase}</option>
        {databases.data?.map((database) => (
          <option key={database.databaseId}>{database.databaseId}</option>
        ))}
        {created && <option value={created.value}>{created.name}</option>}
      </select>
      <InlineError query={databases} />
    </>
  );
}

/** An asset of a database, found by words. */
export function AssetSelect(props: SelectProps & { databaseId: string }) {
  const { databaseId, value, fieldProps, onChange } = props;
  const id = useId();
  const [words, setWords] = useState('');
  const query = useQuery({
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
      return { cards: reply.hits.hits.map((hit) => toCard(hit as Hit)), lagging };
    },
    refetchInterval: ({ state }) => pollWhileLagging(state.data),
    enabled: databaseId !== '',
  });
  const cards = query.data?.cards ?? [];
  const missing = value !== '' && !cards.some((card) => card.assetId === value);
  const selected = useQuery({ ...assetQuery({ databaseId, assetId: value }), enabled: missing });
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
        {...fieldProps}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        <option value="">{uploadTexts.chooseAsset}</option>
        {missing && (
          <option value={value}>
            {selected.data?.assetName ?? (selected.isError ? value : texts.loading)}
          </option>
        )}
        {cards.map((card) => (
          <option key={card.assetId} value={card.assetId}>
            {card.name}
          </option>
        ))}
      </select>
      {query.data?.lagging && (
        <p role="status" className="help">
          {texts.find.indexing}
        </p>
      )}
      <InlineError query={query} />
      {missing && <InlineError query={selected} />}
    </>
  );
}
