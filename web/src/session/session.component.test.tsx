// Signing in: keys and providers that are refused, slow or down.
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, expectAccessible, openPage, SIGNED_IN } from '../testing/page';
import { holdReply, respond, sent } from '../testing/server';
import { startSession } from './signIn';

const key = () => screen.findByLabelText('API key');

test.each([
  ['', 'Enter an API key.'],
  ['vams_wrong', /^The server does not accept this key/],
  ['vams_ключ', /^The server does not accept this key/],
])('the key “%s” is refused beside its field', async (value, words) => {
  let requests = 0;
  const { held, release } = holdReply();
  respond('post', '/auth/session', async () => {
    requests += 1;
    await held;
    return HttpResponse.json({ message: 'Forbidden' }, { status: 403 });
  });
  const user = await openPage('/', false);
  const field = await key();
  if (value) await user.type(field, value);
  await user.dblClick(await button('Sign in'));
  release();
  const message = await screen.findByText(words);
  expect(requests).toBeLessThan(2);
  await expectAccessible();
  expect(field.getAttribute('aria-describedby')).toContain(message.id);
  expect(field.ariaInvalid).toBe('true');
  expect(document.activeElement).toBe(field);
});

test('a key signs in to the address that was opened', async () => {
  const user = await openPage('/?q=lamp', false);
  await user.type(await key(), 'vams_right');
  await user.click(await button('Sign in'));
  await screen.findByRole('link', { name: 'lamp' });
  expect(location.search).toBe('?q=lamp');
  const kept = JSON.stringify([localStorage, sessionStorage]);
  expect(kept).toContain('session-2');
  expect(kept).not.toContain('vams_');
  await user.click(await button('Sign out'));
  await key();
  expect(screen.queryByRole('link', { name: 'lamp' })).toBeNull();
  expect(sessionStorage).toHaveLength(0);
  expect(localStorage).toHaveLength(0);
});

test('requests name the session, and one that is refused is signed out of all the same', async () => {
  const named: (string | null)[] = [];
  respond('delete', '/auth/session', ({ request }) => {
    named.push(request.headers.get('x-vitrine-session'), request.headers.get('authorization'));
    return HttpResponse.json({ message: 'Forbidden' }, { status: 403 });
  });
  const user = await openPage('/');
  await user.click(await button('Sign out'));
  await key();
  expect(named).toEqual(['session-1', null]);
});

test('a sign-out that fails is reported, and the user stays signed in', async () => {
  respond('delete', '/auth/session', () => HttpResponse.error());
  const user = await openPage('/');
  await user.click(await button('Sign out'));
  await screen.findByText(/^The server did not respond/);
  await button('Sign out');
  expect(localStorage).toHaveLength(1);
});

/** What another tab of this browser does, as this tab learns of it. */
function elsewhere(signedIn: object | null) {
  if (signedIn) localStorage.setItem('vitrine.session', JSON.stringify(signedIn));
  else localStorage.clear();
  dispatchEvent(new StorageEvent('storage', { key: 'vitrine.session' }));
}

async function edit() {
  startSession(() => undefined);
  const user = await openPage('/databases/library/assets/x1');
  await user.click(await button('Edit'));
  const field = await screen.findByLabelText('Description');
  await user.type(field, ' typed by the first');
  return field;
}

test('a tab follows another one that signs in again, and loses nothing', async () => {
  const field = await edit();
  elsewhere({ ...SIGNED_IN, id: 'session-3' });
  expect(field.isConnected).toBe(true);
  respond('put', '/assets/x1', ({ request }) =>
    HttpResponse.json({ message: request.headers.get('x-vitrine-session') }, { status: 400 }),
  );
  await userEvent.click(await button('Save'));
  await screen.findByText(/session-3/);
});

test('a tab shows nothing of the first user once another one signs in elsewhere', async () => {
  await edit();
  elsewhere({ id: 'session-9', user: 'bob', byProvider: false });
  await waitFor(() =>
    expect(document.documentElement.outerHTML).not.toContain('typed by the first'),
  );
  await button('Sign out');
  elsewhere(null);
  await key();
});

test('a request as a user who has gone is refused, and the page is that of the other user', async () => {
  await edit();
  localStorage.setItem('vitrine.session', JSON.stringify({ id: 'session-9', user: 'bob' }));
  respond('put', '/assets/x1', { message: 'Unauthorized' }, { status: 401 });
  await userEvent.click(await button('Save'));
  await waitFor(() =>
    expect(document.documentElement.outerHTML).not.toContain('typed by the first'),
  );
  expect(screen.queryByRole('dialog')).toBeNull();
});

const PROVIDER = {
  externalOAuthIdpURL: 'http://provider.test',
  externalOAuthIdpClientId: 'vitrine-web',
};
const DISCOVERY = 'http://provider.test/.well-known/openid-configuration';

const POOL = { pageIssuer: 'http://provider.test', pageClientId: 'page' };

test.each([PROVIDER, POOL])(
  'while a slow provider is looked for, the button is not pressed again; a failure is named: %o',
  async (config) => {
    respond('get', '/api/amplify-config', config);
    let requests = 0;
    const { held, release } = holdReply();
    respond('get', DISCOVERY, async () => {
      requests += 1;
      await held;
      return HttpResponse.error();
    });
    const user = await openPage('/', false);
    const provider = await button('Sign in with your organisation');
    await user.dblClick(provider);
    await screen.findByText('Opening the sign-in of your organisation…');
    expect(provider).toHaveProperty('disabled', true);
    await waitFor(() => expect(requests).toBe(1));
    release();
    await screen.findByText('The sign-in provider does not respond. Try again later.');
    expect(provider).toHaveProperty('disabled', false);
  },
);

test('a provider without addresses is named as one that does not respond', async () => {
  respond('get', '/api/amplify-config', {
    ...PROVIDER,
    externalOAuthIdpTokenEndpoint: 'undefined',
  });
  respond('get', DISCOVERY, () => HttpResponse.text('<h1>Bad Gateway</h1>', { status: 502 }));
  const user = await openPage('/', false);
  await user.click(await button('Sign in with your organisation'));
  await screen.findByText('The sign-in provider does not respond. Try again later.');
});

test('a one-time link that did not arrive is tried again, and a used one says what to do', async () => {
  const user = await openPage('/', false);
  await key();
  respond('post', '/ui/once', () => HttpResponse.error());
  location.hash = '#once=secret';
  startSession(() => undefined);
  const alert = await screen.findByText(/^The one-time link did not work\. The server did not/);
  expect(location.hash).toBe('');
  respond('post', '/ui/once', { code: 'Used', message: 'The link was used' }, { status: 403 });
  await user.click(await button('Try again', alert.parentElement ?? undefined));
  await screen.findByText(/The link was used\.$/);
  screen.getByText('.venv/bin/python -m local link');
  expect(sent.every(({ path }) => path === '/ui/once')).toBe(true);
});

test('a one-time link can be entered instead of a key', async () => {
  const user = await openPage('/', false);
  respond('post', '/ui/once', { code: 'Used', message: 'The link was used' }, { status: 403 });
  await user.type(await key(), 'http://127.0.0.1:8080/ui/#once=a-secret');
  await user.click(await button('Sign in'));
  await screen.findByText('The link was used.');
  respond('post', '/ui/once', { sessionId: 'session-5', userId: 'boss' });
  await user.click(await button('Sign in'));
  await screen.findByRole('link', { name: 'lamp' });
  expect(sent.map(({ body }) => body)).toEqual([{ secret: 'a-secret' }, { secret: 'a-secret' }]);
});

test('a one-time link signs in, also another user', async () => {
  await openPage('/?q=lamp');
  await screen.findByRole('link', { name: 'lamp' });
  respond('post', '/ui/once', { sessionId: 'session-5', userId: 'boss' });
  location.hash = '#once=secret';
  startSession(() => undefined);
  await waitFor(() => expect(localStorage.getItem('vitrine.session')).toContain('session-5'));
  await screen.findByRole('link', { name: 'lamp' });
});

test('an ended sign-in is asked for again over the page, and another user sees nothing of it', async () => {
  const user = await openPage('/databases/library/assets/x1');
  await user.click(await button('Edit'));
  await user.type(screen.getByLabelText('Description'), ' typed by the first');
  respond('put', '/assets/x1', { message: 'Forbidden' }, { status: 403 });
  await user.click(await button('Save'));
  const dialog = await screen.findByRole('dialog', { name: 'Your sign-in has ended' });
  await user.keyboard('{Escape}');
  expect(dialog.isConnected).toBe(true);
  respond('post', '/auth/session', { sessionId: 'session-9', userId: 'another' });
  await user.type(within(dialog).getByLabelText('API key'), 'vams_other');
  await user.click(await button('Sign in', dialog));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(document.documentElement.outerHTML).not.toContain('typed by the first');
});
