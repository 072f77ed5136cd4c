import { expect, test } from 'vitest';
import { texts } from '../texts';
import { ApiError, isTransient, sentence } from './errors';

const refusal = (status: number, body?: unknown, headers?: Record<string, string>) =>
  ApiError.of(new Response(null, { status, headers }), body);

test('what the gateway says of its own failures becomes a sentence with what to do', () => {
  for (const message of ['Internal Server Error', 'Service Unavailable', undefined]) {
    for (const status of [500, 502, 503, 504]) {
      expect(sentence(refusal(status, { message }))).toBe(texts.errors.failed(status));
    }
  }
  expect(sentence(refusal(429, { message: 'Too Many Requests' }))).toBe(texts.errors.busy);
  expect(sentence(refusal(429, undefined, { 'retry-after': '3' }))).toBe(
    `${texts.errors.busy} ${texts.errors.retryIn(3)}`,
  );
  expect(sentence(refusal(418))).toBe(texts.errors.status(418));
});

test('words of the product are shown as they are', () => {
  const body = { message: 'The index is being renewed', code: 'Unavailable' };
  expect(sentence(refusal(503, body))).toBe('The index is being renewed');
  const fields = { ...body, errors: [{ field: 'size', message: 'must not exceed 200' }] };
  expect(sentence(refusal(400, fields))).toBe('size: must not exceed 200');
});

test('what may pass by itself is tried again', () => {
  expect([429, 502, 503, 504].every((each) => isTransient(refusal(each)))).toBe(true);
  expect([400, 403, 404, 500].some((each) => isTransient(refusal(each)))).toBe(false);
});
