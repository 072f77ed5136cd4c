import { createSHA256 } from 'hash-wasm';

/** Computes the SHA-256 of a file in pieces, so that its size does not matter. */
const PIECE = 8 * 1024 * 1024;

onmessage = async (event: MessageEvent<{ id: number; file: Blob }>) => {
  const { id, file } = event.data;
  try {
    const digest = await createSHA256();
    for (let at = 0; at < file.size; at += PIECE) {
      digest.update(new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer()));
    }
    const bytes = digest.digest('binary');
    postMessage({ id, sha256: btoa(String.fromCharCode(...bytes)) });
  } catch (error) {
    // The file was changed or removed after it was chosen.
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
