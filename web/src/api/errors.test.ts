import { expect, test } from 'vitest';
import reference from '../../../docs/reference/errors.md?raw';
import { texts } from '../texts';
import { viewerTexts } from '../texts/viewer';
import {
  ApiError,
  errorFields,
  isTransient,
  JobFailedError,
  errorText,
  SignedOutError,
} from './errors';

const refusal = (status: number, body?: unknown, headers?: Record<string, string>) =>
  ApiError.of(new Response(null, { status, headers }), body);

test('failures of the gateway become a sentence with what to do', () => {
  for (const message of ['Internal Server Error', 'Service Unavailable', undefined]) {
    for (const status of [500, 502, 503, 504]) {
      expect(errorText(refusal(status, { message }))).toBe(texts.errors.failed(status));
    }
  }
  expect(errorText(refusal(429, { message: 'Too Many Requests' }))).toBe(texts.errors.busy);
  expect(errorText(refusal(429, undefined, { 'retry-after': '3' }))).toBe(
    `${texts.errors.busy} ${texts.errors.retryIn(3)}`,
  );
  expect(errorText(refusal(418))).toBe(texts.errors.status(418));
});

test('words of the product are shown as they are', () => {
  const body = { message: 'The index is being renewed', code: 'Unavailable' };
  expect(errorText(refusal(503, body))).toBe('The index is being renewed.');
});

const codes = [...reference.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(
  ([, status = '', code = '']) => [Number(status), code] as const,
);
const FIELDS = ['assetName', 'files.0.relativeKey', 'metadata.3.someNewField', 'query', 'tags'];

test('no error of any code shows what the API calls a field', () => {
  expect(codes.length).toBeGreaterThan(100);
  const shown = codes.flatMap(([status, code]) =>
    FIELDS.flatMap((field) => {
      const fact = 'must not contain < >';
      const message = `${field}: ${fact}`;
      return [
        { message, code },
        { message, code, errors: [{ field, message: fact }] },
      ].map((body) => [errorText(refusal(status, body)), field] as const);
    }),
  );
  const form = /^(The|A) [a-z][a-z ]+ must not contain < >\.$/;
  expect(shown.filter(([words]) => !form.test(words))).toEqual([]);
});

test('each field of a refusal is a sentence, which begins with what the page calls the field', () => {
  const errors = [
    { field: 'assetName', message: 'must not contain < >' },
    { field: 'description', message: 'must have at least 4 characters' },
    { field: 'tags', message: 'tag oak does not exist' },
    { field: 'tags', message: 'tag oak does not exist' },
  ];
  expect(errorText(refusal(400, { message: 'x', code: 'InvalidInput', errors }))).toBe(
    'The name must not contain < >. The description must have at least 4 characters. Tag oak does not exist.',
  );
});

test('the fields of a refusal are named, and otherwise the code says what it is about', () => {
  const errors = [
    { field: 'files.0.relativeKey', message: 'must not contain < >' },
    { field: 'description', message: 'is required' },
  ];
  const of = (body: object) => errorFields(refusal(400, body));
  expect(of({ code: 'InvalidInput', message: 'x', errors })).toEqual([
    'relativeKey',
    'description',
  ]);
  expect(of({ code: 'InvalidInput', message: 'assetName: must not be empty' })).toEqual([
    'assetName',
  ]);
  expect(of({ code: 'FileExists', message: 'There is one' })).toEqual(['FileExists']);
  expect(errorFields(new Error('x'))).toEqual([]);
});

test('names that people chose stay as they are', () => {
  for (const message of ['Asset someAsset has no file /a: b.glb.', 'Asset x: does not exist!']) {
    expect(errorText(refusal(404, { message, code: 'FileNotFound' }))).toBe(message);
  }
});

test('ids that the server made are not shown', () => {
  const id = 'x81e7c2f4-1f0e-4d7a-9b6c-0123456789ab';
  const job = `changeFiles.museum.${id}.7`;
  const errorOf = (message: string) => errorText(refusal(409, { message, code: 'FilesBusy' }));
  expect(errorOf(`Asset ${id} already has a file /a.glb`)).toBe(
    'The asset already has a file /a.glb.',
  );
  expect(errorOf(`The files of asset ${id} are being changed by job ${job}; try again`)).toBe(
    'The files of the asset are being changed by another job; try again.',
  );
  expect(errorOf(`Asset ${id} has no file ${id}/gone.glb`)).toBe(
    'The asset has no file /gone.glb.',
  );
  expect(errorOf(`museum/${id}/a b.glb is archived`)).toBe('/a b.glb is archived.');
  expect(errorOf(`Upload y${id.slice(1)} does not exist`)).toBe('The upload does not exist.');
  expect(errorOf('Asset not distributable')).toBe(texts.errors.notDistributable);
  expect(errorText(new JobFailedError([`Asset ${id} was deleted`]))).toBe('The asset was deleted.');
});

test('words that a browser has for developers are not shown', () => {
  const failures = [
    new TypeError('x is not a function'),
    new SyntaxError('Unexpected token'),
    new RangeError('Array buffer allocation failed'),
    new DOMException('The operation failed', 'DataError'),
  ];
  for (const failure of failures) expect(errorText(failure)).toBe(texts.errors.unknown);
  expect(errorText(new Error(viewerTexts.failed))).toBe(viewerTexts.failed);
});

test('what may pass by itself is tried again', () => {
  expect([429, 502, 503, 504].every((status) => isTransient(refusal(status)))).toBe(true);
  expect([400, 403, 404, 500].some((status) => isTransient(refusal(status)))).toBe(false);
});

test('a sentence begins with a capital letter, unless it begins with a name', () => {
  expect(errorText(new JobFailedError(['the upload no longer exists']))).toBe(
    'The upload no longer exists.',
  );
  const body = (message: string) => ({ message, code: 'X' });
  expect(errorText(refusal(409, body('another request is being served')))).toBe(
    'Another request is being served.',
  );
  expect(errorText(refusal(409, body('stool.glb is archived')))).toBe('stool.glb is archived.');
  expect(errorText(refusal(409, body('theatre is the last one')))).toBe('theatre is the last one.');
});

test('a credential that the gateway accepts no longer is no lack of a right', () => {
  for (const [status, message] of [
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
  ] as const) {
    const ended = refusal(status, { message });
    expect(ended).toBeInstanceOf(SignedOutError);
    expect(ended.status).toBe(401);
    expect(errorText(ended)).toBe(texts.errors.signedOut);
  }
  const denied = refusal(403, { message: 'Forbidden', code: 'Forbidden' });
  expect(denied).not.toBeInstanceOf(SignedOutError);
  expect(denied.status).toBe(403);
});

test('a failure of the server names the request, a refusal does not', () => {
  const body = { message: 'Internal error', code: 'InternalError', requestId: 'abc-1=' };
  expect(errorText(ApiError.of(new Response(null, { status: 500 }), body))).toBe(
    'Internal error. Give an administrator the id of the request: abc-1=.',
  );
  expect(errorText(ApiError.of(new Response(null, { status: 404 }), body))).toBe('Internal error.');
});
