interface Reply {
  id: number;
  sha256?: string;
  error?: string;
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
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ sha256, error }) => {
        if (sha256 === undefined) reject(new Error(error));
        else resolve(sha256);
      });
      this.worker.postMessage({ id, file });
    });
  }

  end(): void {
    this.worker.terminate();
  }
}
