import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { ApiError, JobFailedError, NetworkError, StorageError } from '../api/errors';
import { texts } from '../texts';
import { ErrorNotice, RetryButton } from './ErrorNotice';

const refusal = (status: number) => ApiError.of(new Response(null, { status }), {});
const buttons = (error: unknown): string[] => {
  const shown = renderToStaticMarkup(createElement(ErrorNotice, { error, onRetry: () => null }));
  return [...shown.matchAll(/<button[^>]*>([^<]+)/g)].map(([, words = '']) => words);
};

test('another try is offered only where it may help', () => {
  for (const status of [429, 500, 502, 503, 504]) {
    expect(buttons(refusal(status))).toEqual([texts.tryAgain]);
  }
  expect(buttons(new NetworkError())).toEqual([texts.tryAgain]);
  expect(buttons(new StorageError(403))).toEqual([texts.tryAgain]);
  for (const status of [400, 403, 404, 409, 412, 413, 422]) {
    expect(buttons(refusal(status))).toEqual([]);
  }
});

test('a failure of the page itself is followed by a reload', () => {
  expect(buttons(new TypeError('x is undefined'))).toEqual([texts.reload]);
});

test('beside a sentence, too', () => {
  const shown = (error: unknown) =>
    renderToStaticMarkup(createElement(RetryButton, { error, onClick: () => null }));
  expect(shown(refusal(503))).toContain(texts.tryAgain);
  expect(shown(refusal(404))).toBe('');
  expect(shown(new JobFailedError([]))).toBe('');
});
