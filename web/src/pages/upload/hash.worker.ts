import { createMD5, createSHA256 } from 'hash-wasm';

/** Computes checksums of files in pieces, so that their size does not matter. */
const PIECE = 8 * 1024 * 1024;

onmessage = async (event: MessageEvent<{ id: number; file: Blob; kind: 'sha256' | 'md5' }>) => {
  const { id, file, kind } = event.data;
  try {
    const digest = await (kind === 'md5' ? createMD5() : createSHA256());
    for (let at = 0; at < file.size; at += PIECE) {
      digest.update(new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer()));
    }
    const sum =
      kind === 'md5' ? digest.digest('hex') : btoa(String.fromCharCode(...digest.digest('binary')));
    postMessage({ id, sum });
  } catch {
    // The file was changed or removed after it was chosen.
    postMessage({ id });
  }
};
