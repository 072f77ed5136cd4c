import { expect, test, vi } from 'vitest';
import { withOriginOf } from './devServer';

const host = '127.0.0.1:5173';
const gateway = 'http://127.0.0.1:8080';

test('only the page of the server itself gets the origin of the gateway', () => {
  const setHeader = vi.fn();
  const forward = withOriginOf(gateway);
  for (const origin of ['http://evil.example', 'null', 'http://127.0.0.1:3000', undefined]) {
    forward({ setHeader }, { headers: { host, origin } });
  }
  forward({ setHeader }, { headers: {} });
  expect(setHeader).not.toHaveBeenCalled();
  forward({ setHeader }, { headers: { host, origin: `http://${host}` } });
  expect(setHeader).toHaveBeenCalledExactlyOnceWith('origin', gateway);
});
