import * as oauth from 'oauth4webapi';
import { fetchWithIdleTimeout } from '../api/idleTimeout';
import { texts } from '../texts';
import { definedOrNull, type Config } from './config';

/** What an authorization request needs once the provider replies. */
interface AuthorizationRequest {
  verifier: string;
  state: string;
  nonce: string;
  returnTo: string;
}

const STORED = 'vitrine.sign-in';
const CHANNEL = 'vitrine.sign-in';
const REDIRECT = '/ui/';
const redirectUri = () => location.origin + REDIRECT;

const OPTIONS: oauth.TokenEndpointRequestOptions = {
  [oauth.customFetch]: (url: string, init: RequestInit) => fetchWithIdleTimeout(url, init),
  // A page that is served by HTTP is one of a local runtime, whose provider may be local, too.
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the only way to allow it
  [oauth.allowInsecureRequests]: location.protocol === 'http:',
};

/** The token is new, and the API checks when it ends: the clock of this computer may be wrong. */
const ANY_CLOCK = 1e10;

const clientOf = (config: Config): oauth.Client => ({
  client_id: config.externalOAuthIdpClientId ?? '',
  [oauth.clockTolerance]: ANY_CLOCK,
});

export async function redirectToProvider(config: Config, returnTo: string): Promise<void> {
  const { url, request } = await startAuthorization(config, returnTo);
  sessionStorage.setItem(STORED, JSON.stringify(request));
  location.assign(url);
}

export async function signInByPopup(config: Config, popup: Window): Promise<string> {
  const { url, request } = await startAuthorization(config, '');
  const reply = await new Promise<string>((resolve, reject) => {
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
    channel.onmessage = ({ data }: MessageEvent<{ state: string; reply: string }>) => {
      if (data.state === request.state) finish(() => resolve(data.reply));
    };
    popup.location.replace(url);
  });
  return exchangeCode(config, reply, request);
}

export async function completeSignIn(
  config: () => Promise<Config>,
): Promise<{ token: string; returnTo: string } | 'popup'> {
  const reply = location.search;
  const state = new URLSearchParams(reply).get('state');
  const stored = sessionStorage.getItem(STORED);
  sessionStorage.removeItem(STORED);
  const request = stored ? (JSON.parse(stored) as AuthorizationRequest) : null;
  history.replaceState(null, '', REDIRECT);
  if (request?.state !== state) {
    // A window that `signInByPopup` opened: its opener has the rest.
    new BroadcastChannel(CHANNEL).postMessage({ state, reply });
    window.close();
    return 'popup';
  }
  return {
    token: await exchangeCode(await config(), reply, request),
    returnTo: request.returnTo,
  };
}

export async function signOutUrl(config: Config): Promise<string | null> {
  const server = await fetchServer(config).catch(() => null);
  if (!isAddress(server?.end_session_endpoint)) return null;
  const url = new URL(server.end_session_endpoint);
  url.searchParams.set('client_id', clientOf(config).client_id);
  url.searchParams.set('post_logout_redirect_uri', redirectUri());
  return url.href;
}

async function startAuthorization(
  config: Config,
  returnTo: string,
): Promise<{ url: string; request: AuthorizationRequest }> {
  const server = await fetchServer(config);
  const request = {
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    returnTo,
  };
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: config.externalOAuthIdpClientId ?? '',
    redirect_uri: redirectUri(),
    scope: config.externalOAuthIdpScope ?? 'openid',
    state: request.state,
    nonce: request.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(request.verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, request };
}

/**
 * Exchanges the code of a reply, the query of its address, for the id token of this sign-in, as the
 * value of `Authorization`. Its audience is this client; other tokens are not kept.
 */
async function exchangeCode(
  config: Config,
  reply: string,
  request: AuthorizationRequest,
): Promise<string> {
  const [server, client] = [await fetchServer(config), clientOf(config)];
  try {
    const query = new URLSearchParams(reply);
    const parameters = oauth.validateAuthResponse(server, client, query, request.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      redirectUri(),
      request.verifier,
      OPTIONS,
    );
    // The signature is checked by the API; issuer and nonce bind the token to this sign-in.
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: request.nonce,
      requireIdToken: true,
    });
    return `Bearer ${tokens.id_token ?? ''}`;
  } catch (error) {
    throw new Error(reasonOf(error), { cause: error });
  }
}

/** Why a sign-in failed, in words; those of the library are for developers. */
function reasonOf(error: unknown): string {
  const { refused, otherSignIn, otherIssuer, noProvider } = texts.signIn;
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError)
    return refused(error.error_description ?? error.error);
  if (!(error instanceof oauth.OperationProcessingError)) return noProvider;
  if (error.code === oauth.JWT_CLAIM_COMPARISON) {
    const { claim } = error.cause as { claim?: string };
    return claim === 'iss' ? otherIssuer : otherSignIn;
  }
  return error.code === oauth.INVALID_RESPONSE ? refused('') : noProvider;
}

type Server = oauth.AuthorizationServer & { authorization_endpoint: string };

/** What the provider says of itself, with what the API declares where it says nothing. */
async function fetchServer(config: Config): Promise<Server> {
  const server = await discover(config);
  const authorization =
    server.authorization_endpoint ?? definedOrNull(config.externalOAuthIdpAuthorizationEndpoint);
  const token = server.token_endpoint ?? definedOrNull(config.externalOAuthIdpTokenEndpoint);
  if (!authorization || !token) throw new Error(texts.signIn.noProvider);
  const issuer = definedOrNull(config.externalOAuthIdpURL);
  const isAnother = issuer && server.issuer && withoutSlash(issuer) !== withoutSlash(server.issuer);
  if (isAnother || !isAddress(authorization) || !isAddress(token))
    throw new Error(texts.signIn.wrongProvider);
  return {
    ...server,
    issuer: server.issuer ?? definedOrNull(config.externalOAuthIdpURL) ?? '',
    authorization_endpoint: authorization,
    token_endpoint: token,
  };
}

const withoutSlash = (issuer: string) => issuer.replace(/\/$/, '');

/** The document of a provider may have a value of any type. */
const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '');

async function discover(config: Config): Promise<Partial<oauth.AuthorizationServer>> {
  const issuer = definedOrNull(config.externalOAuthIdpURL);
  const url =
    definedOrNull(config.externalOAuthIdpDiscoveryEndpoint) ??
    (issuer && `${withoutSlash(issuer)}/.well-known/openid-configuration`);
  if (!url) return {};
  const response = await fetchWithIdleTimeout(url).catch(() => null);
  if (!response) throw new Error(texts.signIn.noProvider);
  // Null for a reply of something between, as the page of a gateway, or one that is cut off.
  const document: unknown = response.ok ? await response.json().catch(() => null) : null;
  return typeof document === 'object' && document !== null ? document : {};
}
