import { texts } from '../../texts';

interface Reply {
  id: number;
  /** Absent where the file could not be read. */
  sum?: string;
}

/** A file that was changed, moved or deleted after it was chosen. */
export class UnreadableFileError extends Error {
  constructor() {
    super(texts.errors.unreadableFile);
  }
}

/** Computes checksums beside the page, one file after the other. */
export class Hashing {
  private readonly worker = new Worker(new URL('./hash.worker.ts', import.meta.url), {
    type: 'module',
  });
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private next = 0;

  constructor() {
    this.worker.onmessage = (event: MessageEvent<Reply>) => {
      this.waiting.get(event.data.id)?.(event.data);
      this.waiting.delete(event.data.id);
    };
  }

  /** Returns the SHA-256 in base64, as the API has it. */
  sha256(file: Blob): Promise<string> {
    return this.sum(file, 'sha256');
  }

  /** Returns the MD5 in hexadecimal digits, as the storage names parts. */
  md5(file: Blob): Promise<string> {
    return this.sum(file, 'md5');
  }

  private sum(file: Blob, kind: 'sha256' | 'md5'): Promise<string> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ sum }) => {
        if (sum === undefined) reject(new UnreadableFileError());
        else resolve(sum);
      });
      this.worker.postMessage({ id, file, kind });
    });
  }

  end(): void {
    this.worker.terminate();
  }
}
