import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const GET = vi.fn();
vi.mock('../../api/client', () => ({
  api: { GET: (...options: unknown[]) => GET(...options) as unknown },
  reply: (value: unknown) => value,
}));
const { metadataQuery, formatValue } = await import('./metadataQueries');
const read = () =>
  (metadataQuery({ databaseId: 'd', assetId: 'a' }).queryFn as () => Promise<unknown>)();
afterEach(() => vi.resetAllMocks());

const record = (metadataKey: string, metadataValue: string, metadataValueType = 'string') => ({
  metadataKey,
  metadataValue,
  metadataValueType,
  metadataStored: true,
});

test('metadata of all pages is read, with what schemas say about it', async () => {
  const rule = {
    metadataSchemaField: true,
    metadataSchemaName: 's',
    metadataSchemaRequired: true,
    metadataSchemaValueType: 'date',
  };
  const pages = [
    {
      metadata: [record('mass', '12.5', 'number')],
      restrictMetadataOutsideSchemas: true,
      NextToken: 'next',
    },
    {
      metadata: [
        { ...record('made of', '', 'odd'), ...rule, metadataStored: false },
        { ...record('torn', 'x'), ...rule, metadataSchemaMultiFieldConflict: true },
      ],
    },
  ];
  GET.mockImplementation(() => Promise.resolve(pages.shift()));
  const schema = { name: 's', type: 'date', isRequired: true, dependsOn: [], choices: [] };
  expect(await read()).toEqual({
    fields: [
      { key: 'mass', value: '12.5', type: 'number', isStored: true, schema: null },
      { key: 'made of', value: '', type: 'string', isStored: false, schema },
      {
        key: 'torn',
        value: 'x',
        type: 'string',
        isStored: true,
        schema: { ...schema, type: null },
      },
    ],
    isRestricted: true,
  });
});

test('what the caller may not see is left out, and other failures are thrown', async () => {
  GET.mockImplementation(() => Promise.reject(new ApiError(403, 'PermissionDenied', 'No')));
  expect(await read()).toBeNull();
  GET.mockImplementation(() => Promise.reject(new ApiError(503, 'Unavailable', 'Later')));
  await expect(read()).rejects.toThrow('Later');
});

test('values are shown by their type, and as they are if they are not of it', () => {
  for (const [value, type, shown] of [
    ['1234567.8901', 'number', '1,234,567.8901'],
    ['heavy', 'number', 'heavy'],
    ['TRUE', 'boolean', 'yes'],
    ['perhaps', 'boolean', 'perhaps'],
    ['2026-01-31', 'date', 'Jan 31, 2026'],
    ['spring', 'date', 'spring'],
    ['{"x": 1, "y": -2.5, "z": 0}', 'xyz', 'x\u00a01, y\u00a0-2.5, z\u00a00'],
    ['{"x": "1"}', 'xyz', '{"x": "1"}'],
    ['[oak', 'wxyz', '[oak'],
    ['https://example.org/?a=1', 'string', 'https://example.org/?a=1'],
  ] as const) {
    expect(formatValue(value, type)).toBe(shown);
  }
});
