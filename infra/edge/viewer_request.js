// Runs at CloudFront's edge for each request of a viewer, on JavaScript runtime 2.0: no imports, at
// most 10 KB. The files and paths are filled in when the stack is synthesized.
const FILES = new Set(/* FILES */ []);
const API_PATHS = new Set(/* API_PATHS */ []);

function redirect(address) {
    return { statusCode: 302, statusDescription: 'Found', headers: { location: { value: address } } };
}

function handler(event) {
    const request = event.request;
    const path = request.uri;
    const accept = request.headers.accept ? request.headers.accept.value : '';
    const reads = request.method === 'GET' || request.method === 'HEAD';
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
    } else if (path.startsWith('/api/') && !API_PATHS.has(path)) {
        request.uri = path.substring('/api'.length);
    }
    return request;
}
