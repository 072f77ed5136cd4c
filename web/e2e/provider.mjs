// A sign-in provider (OpenID Connect with PKCE) for the walks: it signs in any user.
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

export const ISSUER = process.env.VITRINE_ISSUER;
export const CLIENT_ID = 'vitrine-web';
const KEY_ID = 'walk';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(claims) {
  const text = `${encoded({ alg: 'RS256', kid: KEY_ID })}.${encoded(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
}

const discovery = {
  issuer: ISSUER,
  jwks_uri: `${ISSUER}/keys`,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  end_session_endpoint: `${ISSUER}/logout`,
};
const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig' }] };

/** Starts the provider. Its behaviour is changed by its fields; `requests` are those that it received. */
export async function startProvider(user) {
  const provider = { user, seconds: 600, refusal: '', nonce: null, requests: [], stop: null };
  const codes = new Map();
  const tokens = (nonce) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: ISSUER, sub: provider.user, aud: CLIENT_ID, iat: now, nonce };
    return {
      id_token: signed({ ...claims, exp: now + provider.seconds }),
      access_token: 'not used by the page',
      token_type: 'Bearer',
    };
  };
  const authorize = (query) => {
    const back = new URL(query.get('redirect_uri'));
    back.searchParams.set('state', query.get('state'));
    if (provider.refusal) {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', provider.refusal);
      return back;
    }
    const code = randomBytes(16).toString('hex');
    codes.set(code, query);
    back.searchParams.set('code', code);
    return back;
  };
  const exchange = (form) => {
    const began = codes.get(form.get('code'));
    codes.delete(form.get('code'));
    const challenge = createHash('sha256').update(form.get('code_verifier')).digest('base64url');
    const valid =
      began?.get('code_challenge') === challenge &&
      began.get('redirect_uri') === form.get('redirect_uri') &&
      form.get('client_id') === CLIENT_ID;
    return valid ? tokens(provider.nonce ?? began.get('nonce')) : null;
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, ISSUER);
    let text = '';
    for await (const part of request) text += part;
    const form = new URLSearchParams(text);
    provider.requests.push({ path: url.pathname, query: url.searchParams, form });
    response.setHeader('access-control-allow-origin', '*');
    const redirect = (to) => response.writeHead(302, { location: to }).end();
    const json = (value) =>
      response
        .writeHead(value ? 200 : 400, { 'content-type': 'application/json' })
        .end(JSON.stringify(value ?? { error: 'invalid_grant' }));
    if (url.pathname === '/authorize') redirect(authorize(url.searchParams).href);
    else if (url.pathname === '/logout') redirect(url.searchParams.get('post_logout_redirect_uri'));
    else if (url.pathname === '/token') json(exchange(form));
    else if (url.pathname === '/keys') json(keys);
    else if (url.pathname === '/.well-known/openid-configuration') json(discovery);
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(new URL(ISSUER).port, '127.0.0.1', resolve));
  provider.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return provider;
}
