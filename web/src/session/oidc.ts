import { fetchWithIdleTimeout } from '../api/idleTimeout';
import type { components } from '../api/schema';
import { texts } from '../texts';
import type { Credential } from './session';

export type Config = components['schemas']['AmplifyConfigReply'];

interface Endpoints {
  authorization: string;
  token: string;
  endSession: string | null;
  revocation: string | null;
  issuer: string | null;
}

interface AuthorizationRequest {
  verifier: string;
  state: string;
  nonce: string;
  returnTo: string;
  popup: boolean;
}

const STARTED = 'vitrine.sign-in';
const CHANNEL = 'vitrine.sign-in';
const REDIRECT = '/ui/';

export const offersProvider = (config: Config): boolean =>
  Boolean(
    definedOrNull(config.externalOAuthIdpURL) && definedOrNull(config.externalOAuthIdpClientId),
  );

/** Sends the browser to the provider; it returns to the page's root with a code. */
export async function redirectToProvider(config: Config, returnTo: string): Promise<void> {
  const { url, started } = await authorization(config, returnTo, false);
  sessionStorage.setItem(STARTED, JSON.stringify(started));
  location.assign(url);
}

/** Signs in again in a window of its own, so that this page keeps its state. */
export async function signInByPopup(config: Config): Promise<Credential> {
  // Opened before anything is awaited: later, a browser would block it.
  const popup = open('about:blank', '_blank', 'popup,width=520,height=680');
  if (!popup) throw new Error(texts.signIn.popupBlocked);
  const { url, started } = await authorization(config, '', true).catch((error: unknown) => {
    popup.close();
    throw error;
  });
  const code = await new Promise<string>((resolve, reject) => {
    const channel = new BroadcastChannel(CHANNEL);
    let wasClosed = false;
    const closed = setInterval(() => {
      // What the window sent before it closed may arrive after that.
      if (wasClosed) finish(() => reject(new Error(texts.signIn.windowClosed)));
      wasClosed = popup.closed;
    }, 500);
    const finish = (then: () => void): void => {
      clearInterval(closed);
      channel.close();
      then();
    };
    channel.onmessage = (
      event: MessageEvent<{ state?: string; code?: string; error?: string }>,
    ) => {
      if (event.data.state !== started.state) return;
      const { code: received, error } = event.data;
      if (received) finish(() => resolve(received));
      else finish(() => reject(new Error(texts.signIn.refused(error ?? ''))));
    };
    popup.location.replace(url);
  });
  return exchangeCode(config, code, started);
}

/** Handles the return from the provider: null where the address has no code. */
export async function completeSignIn(
  config: () => Promise<Config>,
): Promise<{ credential: Credential; returnTo: string } | 'popup' | null> {
  const query = new URLSearchParams(location.search);
  const state = query.get('state');
  if (!state || !(query.has('code') || query.has('error'))) return null;
  const stored = sessionStorage.getItem(STARTED);
  sessionStorage.removeItem(STARTED);
  const started = stored ? (JSON.parse(stored) as AuthorizationRequest) : null;
  history.replaceState(null, '', REDIRECT);
  const [code, error] = [query.get('code'), query.get('error')];
  if (started?.state !== state) {
    // A window that `signInByPopup` opened: its opener has the rest.
    new BroadcastChannel(CHANNEL).postMessage({ state, code, error });
    window.close();
    return 'popup';
  }
  if (!code) throw new Error(texts.signIn.refused(query.get('error_description') ?? error ?? ''));
  return {
    credential: await exchangeCode(await config(), code, started),
    returnTo: started.returnTo,
  };
}

/** Returns a new credential by the refresh token, or null where the provider refuses it. */
export async function renew(config: Config, credential: Credential): Promise<Credential | null> {
  if (!credential.refreshToken) return null;
  const endpoints = await fetchEndpoints(config).catch(() => null);
  if (!endpoints) return null;
  const response = await fetchWithIdleTimeout(endpoints.token, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: credential.refreshToken,
      client_id: config.externalOAuthIdpClientId ?? '',
    }),
  }).catch(() => null);
  if (!response?.ok) return null;
  const tokens = await parseJson<Tokens>(response);
  return tokens?.id_token ? toCredential(tokens, credential.refreshToken) : null;
}

/** Ends the session at the provider: revokes the refresh token, and returns where to go next. */
export async function endSession(config: Config, credential: Credential): Promise<string | null> {
  const endpoints = await fetchEndpoints(config).catch(() => null);
  const client = config.externalOAuthIdpClientId ?? '';
  if (endpoints?.revocation && credential.refreshToken) {
    const body = new URLSearchParams({ token: credential.refreshToken, client_id: client });
    // The provider may be down; the tokens are forgotten here in any case.
    await fetchWithIdleTimeout(endpoints.revocation, { method: 'POST', body }).catch(() => null);
  }
  if (!endpoints?.endSession) return null;
  const url = new URL(endpoints.endSession);
  if (credential.idToken) url.searchParams.set('id_token_hint', credential.idToken);
  url.searchParams.set('client_id', client);
  url.searchParams.set('post_logout_redirect_uri', location.origin + REDIRECT);
  return url.href;
}

async function authorization(
  config: Config,
  returnTo: string,
  popup: boolean,
): Promise<{ url: string; started: AuthorizationRequest }> {
  const endpoints = await fetchEndpoints(config);
  const started = { verifier: random(), state: random(), nonce: random(), returnTo, popup };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(started.verifier));
  const url = new URL(endpoints.authorization);
  const parameters = {
    response_type: 'code',
    client_id: config.externalOAuthIdpClientId ?? '',
    redirect_uri: location.origin + REDIRECT,
    scope: config.externalOAuthIdpScope ?? 'openid',
    state: started.state,
    nonce: started.nonce,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, started };
}

async function exchangeCode(
  config: Config,
  code: string,
  started: AuthorizationRequest,
): Promise<Credential> {
  const endpoints = await fetchEndpoints(config);
  const response = await fetchWithIdleTimeout(endpoints.token, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: started.verifier,
      redirect_uri: location.origin + REDIRECT,
      client_id: config.externalOAuthIdpClientId ?? '',
    }),
  }).catch(() => null);
  if (!response) throw new Error(texts.signIn.noProvider);
  const tokens = await parseJson<Tokens>(response);
  if (!tokens) throw new Error(texts.signIn.noProvider);
  if (!response.ok || !tokens.id_token) {
    throw new Error(texts.signIn.refused(tokens.error_description ?? tokens.error ?? ''));
  }
  const claims = decodeClaims(tokens.id_token);
  // The signature is checked by the API; these two bind the token to this sign-in.
  if (claims.nonce !== started.nonce) throw new Error(texts.signIn.otherSignIn);
  if (endpoints.issuer && claims.iss !== endpoints.issuer)
    throw new Error(texts.signIn.otherIssuer);
  return toCredential(tokens);
}

interface Tokens {
  id_token?: string;
  refresh_token?: string;
  error?: string;
  error_description?: string;
}

function toCredential(tokens: Tokens, earlierRefreshToken?: string): Credential {
  const idToken = tokens.id_token ?? '';
  const { exp, iat } = decodeClaims(idToken);
  // By the provider's clock: that of this computer may be wrong.
  const expiresAt = Date.now() + (Number(exp) - Number(iat)) * 1000;
  const refreshToken = tokens.refresh_token ?? earlierRefreshToken;
  return { kind: 'provider', token: `Bearer ${idToken}`, expiresAt, refreshToken, idToken };
}

function decodeClaims(token: string): Record<string, unknown> {
  const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(part), (each) => each.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
}

async function fetchEndpoints(config: Config): Promise<Endpoints> {
  const found = await discover(config);
  const text = (name: string): string | null => {
    const value = found[name];
    return typeof value === 'string' && value ? value : null;
  };
  const authorizationUrl =
    text('authorization_endpoint') ?? definedOrNull(config.externalOAuthIdpAuthorizationEndpoint);
  const token = text('token_endpoint') ?? definedOrNull(config.externalOAuthIdpTokenEndpoint);
  if (!authorizationUrl || !token) throw new Error(texts.signIn.noProvider);
  return {
    authorization: authorizationUrl,
    token,
    endSession: text('end_session_endpoint'),
    revocation: text('revocation_endpoint'),
    issuer: text('issuer'),
  };
}

/** The API declares `undefined`, as a text, for what it does not know. */
const definedOrNull = (url: string | null | undefined): string | null =>
  url && url !== 'undefined' ? url : null;

async function discover(config: Config): Promise<Record<string, unknown>> {
  const issuer = definedOrNull(config.externalOAuthIdpURL)?.replace(/\/$/, '');
  const url =
    definedOrNull(config.externalOAuthIdpDiscoveryEndpoint) ??
    (issuer && `${issuer}/.well-known/openid-configuration`);
  if (!url) return {};
  const response = await fetchWithIdleTimeout(url).catch(() => null);
  if (!response) throw new Error(texts.signIn.noProvider);
  return (response.ok && (await parseJson<Record<string, unknown>>(response))) || {};
}

/** Null for a reply of something between, as the page of a gateway, or one that is cut off. */
const parseJson = <T>(response: Response): Promise<T | null> =>
  response.json().then(
    (found: unknown) => (typeof found === 'object' ? (found as T) : null),
    () => null,
  );

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
