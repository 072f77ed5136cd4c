// The service worker of downloads, at /ui/zip/worker.js behind client-zip's `downloadZip`, which the
// build puts before it. It streams one ZIP file at an address below its own to the browser's
// downloads. The page names the next file when it is asked for it, so that no address expires.
/* global self, downloadZip */
const jobs = new Map();

self.addEventListener('install', () => self.skipWaiting());

self.addEventListener('message', ({ data, ports: [port] }) => {
  // Other messages only keep the worker alive.
  if (!port) return;
  const stop = new AbortController();
  const answers = [];
  port.onmessage = (answer) => {
    if (answer.data === 'stop') stop.abort();
    else answers.shift()?.(answer.data);
  };
  const next = () =>
    new Promise((resolve, reject) => {
      stop.signal.throwIfAborted();
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
      answers.push(resolve);
      port.postMessage({ type: 'next' });
    });
  jobs.set(new URL(data.address, self.location.href).pathname, {
    name: data.name,
    port,
    stop,
    next,
  });
  // The page opens the address now: its request may be faster than a message.
  port.postMessage({ type: 'ready' });
});

self.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  const job = jobs.get(pathname);
  jobs.delete(pathname);
  // Without content the browser remains on the page.
  event.respondWith(job ? respond(job) : new Response(null, { status: 204 }));
});

async function* entries({ port, stop, next }) {
  for (;;) {
    const file = await next();
    if (!file) return;
    const response = await fetch(file.url, { signal: stop.signal }).catch(() => null);
    stop.signal.throwIfAborted();
    if (response?.ok) {
      yield { name: file.name, input: response };
      // It is asked for the next one once this one is in the archive.
      port.postMessage({ type: 'done', at: file.at });
    } else port.postMessage({ type: 'failed', at: file.at, status: response?.status ?? 0 });
  }
}

function respond(job) {
  const { name, port, stop } = job;
  const reader = downloadZip(entries(job)).body.getReader();
  const end = (type) => {
    stop.abort();
    port.postMessage({ type });
  };
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        stop.signal.throwIfAborted();
        if (!done) controller.enqueue(value);
        else {
          controller.close();
          end('end');
        }
      } catch (error) {
        controller.error(error);
        end('broken');
      }
    },
    cancel: () => end('broken'),
  });
  return new Response(body, {
    headers: {
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      'x-content-type-options': 'nosniff',
    },
  });
}
