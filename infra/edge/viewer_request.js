// Runs at CloudFront's edge for each request of a viewer, on JavaScript runtime 2.0: no imports, at
// most 10 KB. The constants are filled in when the stack is synthesized.
const FILES = new Set(/* FILES */ []);
const API_PATHS = new Set(/* API_PATHS */ []);
const SESSION = /* SESSION */ {};

function redirect(address) {
    return { statusCode: 302, statusDescription: 'Found', headers: { location: { value: address } } };
}

// As `local/edge.py`, which tests hold against the same table. Returns whether the API gets the
// request. Forms and pages of other origins cannot send the page's header.
function useSession(request, cookie) {
    const headers = request.headers;
    if (!cookie || (request.method === 'POST' && request.uri === SESSION.path)) {
        return true;
    }
    if (headers.authorization) {
        return false;
    }
    const believed = headers[SESSION.header];
    const site = headers['sec-fetch-site'];
    const sites = (site && site.multiValue) || (site ? [site] : []);
    if (!believed || sites.some((sent) => sent.value !== 'same-origin')) {
        return true;
    }
    const id = cookie.value.substring(SESSION.start, SESSION.end);
    if (cookie.multiValue || believed.multiValue || id !== believed.value) {
        return false;
    }
    headers.authorization = { value: 'Bearer ' + cookie.value };
    return true;
}

function handler(event) {
    const request = event.request;
    const path = request.uri;
    const accept = request.headers.accept ? request.headers.accept.value : '';
    const reads = request.method === 'GET' || request.method === 'HEAD';
    const cookie = request.cookies[SESSION.cookie];
    delete request.cookies[SESSION.cookie];
    // Overwrites what the viewer sent under this name.
    request.headers['x-vitrine-viewer-address'] = { value: event.viewer.ip };
    if (path === '/ui' || (path === '/' && reads && accept.includes('text/html'))) {
        return redirect('/ui/');
    }
    if (path.startsWith('/ui/')) {
        // By the list and not by a dot: ids of assets contain dots.
        if (!path.startsWith('/ui/assets/') && !FILES.has(path)) {
            request.uri = '/ui/index.html';
        }
        return request;
    }
    if (path.startsWith('/api/') && !API_PATHS.has(path)) {
        request.uri = path.substring('/api'.length);
    }
    if (useSession(request, cookie)) {
        return request;
    }
    return {
        statusCode: 401,
        statusDescription: 'Unauthorized',
        headers: { 'content-type': { value: 'application/json' } },
        body: '{"message":"Unauthorized"}',
    };
}
