import { beforeEach, expect, test, vi } from 'vitest';
import type { Config } from './config';

const ISSUER = 'http://127.0.0.1:18473';
const config = { externalOAuthIdpURL: ISSUER, externalOAuthIdpClientId: 'page' } as Config;
const page = { origin: 'http://127.0.0.1:8080', protocol: 'http:', search: '', assign: vi.fn() };
const stored = new Map<string, string>();
vi.stubGlobal('location', page);
vi.stubGlobal('history', { replaceState: () => undefined });
vi.stubGlobal('sessionStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
  removeItem: (key: string) => stored.delete(key),
});

/** What the provider replies: the nonce of its token, and the status of its token endpoint. */
const provider = { nonce: undefined as string | undefined, status: 200, document: {} };
const encoded = (value: unknown) =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const forms: URLSearchParams[] = [];

function tokens() {
  // By a clock that is decades behind that of this computer.
  const claims = { iss: ISSUER, sub: 'ann', aud: 'page', iat: 1000, exp: 1600 };
  const idToken = `${encoded({ alg: 'RS256' })}.${encoded({ ...claims, nonce: provider.nonce })}.c2ln`;
  return { access_token: 'a', token_type: 'Bearer', id_token: idToken };
}

vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
  if (init?.body) forms.push(init.body as URLSearchParams);
  if (url.endsWith('/token') && provider.status !== 200)
    return Promise.resolve(new Response('<h1>Bad Gateway</h1>', { status: provider.status }));
  const discovery = {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    end_session_endpoint: `${ISSUER}/logout`,
    ...provider.document,
  };
  return Promise.resolve(Response.json(url.endsWith('/token') ? tokens() : discovery));
});
const { completeSignIn, redirectToProvider, signOutUrl } = await import('./oidc');

/** Goes to the provider and comes back with a reply; returns how the sign-in ends. */
async function signIn(reply: string, nonce?: string) {
  await redirectToProvider(config, '/ui/?q=a');
  const { searchParams } = new URL(page.assign.mock.lastCall?.[0] as string);
  expect(searchParams.get('code_challenge_method')).toBe('S256');
  provider.nonce = nonce ?? searchParams.get('nonce') ?? '';
  page.search = `?state=${searchParams.get('state')}&${reply}`;
  const done = await completeSignIn(() => Promise.resolve(config));
  if (done === 'popup') throw new Error('the state is that of another window');
  return done;
}

beforeEach(() => {
  stored.clear();
  forms.length = 0;
  provider.status = 200;
  provider.document = {};
});

test.each([
  { authorization_endpoint: 5 },
  { authorization_endpoint: 'javascript:alert(1)' },
  { token_endpoint: '/token' },
  { issuer: 'https://other.example' },
])('a provider that says of itself %o is not called', async (document) => {
  provider.document = document;
  page.assign.mockClear();
  await expect(redirectToProvider(config, '/ui/')).rejects.toThrow('is invalid');
  expect(page.assign).not.toHaveBeenCalled();
});

test('a code becomes an id token, and nothing of the sign-in is kept', async () => {
  const { token, returnTo } = await signIn('code=abc');
  expect(returnTo).toBe('/ui/?q=a');
  expect(forms[0]?.get('code_verifier')).toMatch(/^.{43,}$/);
  expect(token).toMatch(/^Bearer .+\..+\.c2ln$/);
  expect(stored.size).toBe(0);
});

test('what goes wrong is said in words', async () => {
  await expect(signIn('code=abc', 'other')).rejects.toThrow('belongs to another sign-in');
  await expect(signIn('error=access_denied&error_description=Not%20Ann')).rejects.toThrow(
    'The provider refused the sign-in: Not Ann',
  );
  provider.status = 502;
  await expect(signIn('code=abc')).rejects.toThrow('does not respond');
});

test('signing out leads to the provider', async () => {
  const url = await signOutUrl(config);
  expect(url).toMatch(/\/logout\?client_id=page&post_logout_redirect_uri=http.+%2Fui%2F$/);
});
