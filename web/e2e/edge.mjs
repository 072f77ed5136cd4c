// The distribution of the stack `web`, as its template declares it, between the browser and the
// runtime's gateway: the function at the edge, the behaviours, the headers and the origin's policy.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync } from 'node:zlib';
import { COOKIE, endpoint, TRIAL } from './walk.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const PYTHON = join(ROOT, '.venv', 'bin', 'python');
const BUILT = `
from pathlib import Path
from infra.page import prepare_page
page = prepare_page(Path(), bundle=True)
print(page.folder, page.edge_function(), sep='\\n')
`;
const TYPES = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** A text of a template, in which references are names in angle brackets. */
function textOf(value) {
  if (typeof value === 'string') return value;
  const [name, of] = Object.entries(value)[0];
  return name === 'Fn::Join' ? of[1].map(textOf).join(of[0]) : `<${[of].flat().join('.')}>`;
}

/** Synthesizes the stack, builds the page, and returns what the distribution does with requests. */
export function readDistribution(scratch) {
  const context = JSON.stringify({ stage: 'small', bundle: false });
  const env = { ...process.env, CDK_CONTEXT_JSON: context, CDK_OUTDIR: scratch };
  execFileSync(PYTHON, ['app.py'], { cwd: ROOT, env });
  const template = join(scratch, 'vitrine-small-web.template.json');
  const resources = Object.values(JSON.parse(readFileSync(template, 'utf8')).Resources);
  const the = (type) => resources.find((item) => item.Type === type).Properties;
  const printed = execFileSync(PYTHON, ['-c', BUILT], { cwd: ROOT, encoding: 'utf8' });
  const [folder, ...code] = printed.split('\n');
  const headers = the('AWS::CloudFront::ResponseHeadersPolicy').ResponseHeadersPolicyConfig;
  const security = headers.SecurityHeadersConfig;
  const policy = textOf(security.ContentSecurityPolicy.ContentSecurityPolicy);
  return {
    folder,
    handle: runInNewContext(`${code.join('\n')}; handler`, Object.create(null)),
    behaviors: the('AWS::CloudFront::Distribution').DistributionConfig,
    sent: the('AWS::CloudFront::OriginRequestPolicy').OriginRequestPolicyConfig,
    headers: {
      // Buckets of AWS have hosts of their own, those of the runtime share one.
      'content-security-policy': policy.replaceAll(/https:\/\/<[^>]*>\.s3\.[^ ;]*/g, endpoint.s3),
      'referrer-policy': security.ReferrerPolicy.ReferrerPolicy,
      'x-content-type-options': 'nosniff',
      ...Object.fromEntries(
        headers.CustomHeadersConfig.Items.map((item) => [item.Header.toLowerCase(), item.Value]),
      ),
    },
  };
}

/** Lets requests of a page pass the distribution; returns their number and the bytes of replies. */
export async function putBehind(page, distribution) {
  const passed = { requests: 0, bytes: 0, paths: [] };
  // A page whose replies are fulfilled counts as one of another network.
  await page.context().grantPermissions(['local-network-access']);
  await page.route(`${endpoint.api}/**`, async (route) => {
    const request = route.request();
    const { pathname, search } = new URL(request.url());
    // The gateway's cookie has its port in its name.
    const cookies = (await page.context().cookies(endpoint.api))
      .filter(({ name }) => name === COOKIE)
      .map(({ value }) => ['__Host-vitrine', { value }]);
    const event = {
      viewer: { ip: '198.51.100.7' },
      request: {
        method: request.method(),
        uri: pathname,
        cookies: Object.fromEntries(cookies),
        headers: Object.fromEntries(
          Object.entries(request.headers()).map(([name, value]) => [name, { value }]),
        ),
      },
    };
    const answer = distribution.handle(event);
    passed.requests += 1;
    passed.paths.push(pathname);
    if (answer.statusCode) {
      const headers = Object.entries(answer.headers).map(([name, { value }]) => [name, value]);
      const { statusCode: status, body } = answer;
      return route.fulfill({ status, headers: Object.fromEntries(headers), body });
    }
    const [files] = distribution.behaviors.CacheBehaviors;
    const isFile = answer.uri.startsWith(files.PathPattern.replace('*', ''));
    const reply = isFile
      ? fileAt(distribution, answer.uri)
      : await fromApi(route, distribution, `${endpoint.api}${answer.uri}${search}`, answer.headers);
    passed.bytes += brotliCompressSync(reply.body).length;
    return route.fulfill(reply);
  });
  return passed;
}

/** As the bucket replies to the distribution, which may list it. */
function fileAt({ folder, headers }, uri) {
  const path = join(folder, uri.replace(/^\/ui\//, ''));
  if (!existsSync(path)) return { status: 404, headers, body: Buffer.from('') };
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  return { status: 200, headers: { ...headers, 'content-type': type }, body: readFileSync(path) };
}

/** As the API replies, to what the policy of the origin lets through. */
async function fromApi(route, { sent, behaviors }, url, headers) {
  const request = route.request();
  if (request.method() === 'GET' && request.postData())
    return { status: 403, body: Buffer.from('') };
  if (!behaviors.DefaultCacheBehavior.AllowedMethods.includes(request.method()))
    return { status: 405, body: Buffer.from('') };
  const { HeadersConfig, CookiesConfig } = sent;
  const names = Object.keys(headers).filter((name) => !HeadersConfig.Headers.includes(name));
  const reply = await fetch(url, {
    method: request.method(),
    // The gateway is not the edge here: it gets no cookie but that of a browser like this one.
    headers: {
      ...Object.fromEntries(names.map((name) => [name, headers[name].value])),
      cookie: TRIAL,
    },
    body: request.postDataBuffer() ?? undefined,
    redirect: 'manual',
  });
  const replyHeaders = Object.fromEntries(reply.headers);
  for (const name of ['content-encoding', 'content-length']) delete replyHeaders[name];
  // CloudFront removes the cookies of replies where it forwards none.
  if (!CookiesConfig.Cookies?.includes('__Host-vitrine')) delete replyHeaders['set-cookie'];
  const body = Buffer.from(await reply.arrayBuffer());
  return { status: reply.status, headers: replyHeaders, body };
}
