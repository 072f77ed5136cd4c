import { api, reply, replyWithHeaders } from '../../api/client';
import { createStore, type Store } from '../../api/createStore';
import { isFinal, isInputRefused, isTransient, errorText } from '../../api/errors';
import { recordWrite } from '../../api/writes';
import { waitUntilOnline } from '../../ui/useOnline';
import type { Place } from '../../api/downloads';
import type { LocalFile } from './localFiles';
import { Hashing, UnreadableFileError } from './hashing';
import { isLarge, wantedParts } from './parts';
import { findOpenUpload, type Part, type StartedUpload, type UploadTarget } from './openUploads';
import { sendParts } from './sendParts';
import { isBusy, retryDelay, sleep } from './retryDelay';

type State =
  'waiting' | 'hashing' | 'sending' | 'sent' | 'completing' | 'done' | 'failed' | 'skipped';

export interface Item extends LocalFile {
  state: State;
  sent: number;
  error: string;
  /** Another try cannot succeed: the file itself has to be changed, or chosen again. */
  final: boolean;
}

interface Progress {
  items: readonly Item[];
  running: boolean;
  paused: boolean;
  /** When parts go on that wait for a busy server, in milliseconds of the epoch. */
  busyUntil: number | null;
}

const FILES_AT_ONCE = 50;
const TRIES = 5;

/** Uploads files into one asset, in batches; what failed can be tried again. */
export class UploadRun {
  readonly progress: Store<Progress>;
  private readonly hashing = new Hashing();
  private stopping = new AbortController();
  private resumeWaiting: (() => void) | null = null;
  private frame = 0;
  private waits: number[] = [];

  constructor(
    private readonly place: Place,
    files: readonly LocalFile[],
    private readonly knownSizes: ReadonlyMap<string, number>,
  ) {
    const items = files.map((local): Item => ({
      ...local,
      state: 'waiting',
      sent: 0,
      error: '',
      final: false,
    }));
    const initial = { items, running: false, paused: false, busyUntil: null };
    // At most one update a frame: parts report their progress often.
    this.progress = createStore<Progress>(initial, (notify) => {
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        notify();
      });
    });
  }

  /** Uploads all that is not there yet; also again, after some have failed. */
  async start(): Promise<void> {
    this.stopping = new AbortController();
    this.change({ running: true, paused: false });
    const { signal } = this.stopping;
    for (const item of this.progress.current().items) {
      if (item.state === 'failed' && !item.final) {
        this.set(item, { state: 'waiting', sent: 0, error: '' });
      }
    }
    const waiting = this.progress.current().items.filter((item) => item.state === 'waiting');
    for (let at = 0; at < waiting.length && !signal.aborted; at += FILES_AT_ONCE) {
      await this.batch(waiting.slice(at, at + FILES_AT_ONCE), signal);
    }
    this.change({ running: false, paused: false });
  }

  pause(): void {
    this.change({ paused: true });
  }

  resume(): void {
    this.change({ paused: false });
    this.resumeWaiting?.();
    this.resumeWaiting = null;
  }

  /** Ends the upload; what was sent of unfinished files is deleted. */
  cancel(): void {
    this.stopping.abort();
    this.resume();
  }

  end(): void {
    this.cancel();
    this.hashing.end();
  }

  /** Whether it has ended, and all files are there. */
  isComplete(): boolean {
    const { items, running } = this.progress.current();
    return !running && items.every(({ state }) => state === 'done' || state === 'skipped');
  }

  private async batch(items: Item[], signal: AbortSignal): Promise<void> {
    const sums = new Map<Item, string>();
    for (const item of items) {
      await this.waitWhilePaused();
      if (signal.aborted) return;
      this.set(item, { state: 'hashing' });
      try {
        const sum = await this.hashing.sha256(item.file);
        if (await this.isUploaded(item, sum)) this.set(item, { state: 'skipped' });
        else {
          this.set(item, { state: 'waiting' });
          sums.set(item, sum);
        }
      } catch (error) {
        this.fail([item], error);
      }
    }
    const small = [...sums].filter(([item]) => !isLarge(item.file.size));
    if (small.length) await this.upload(new Map(small), signal);
    // Each large file has an upload of its own, which a later try continues.
    for (const checksum of sums) {
      if (isLarge(checksum[0].file.size) && !signal.aborted)
        await this.upload(new Map([checksum]), signal);
    }
  }

  /** Starts an upload, or continues that of a large file. */
  private async openUpload(sums: ReadonlyMap<Item, string>): Promise<StartedUpload> {
    const items = [...sums.keys()];
    const [only] = items;
    if (only && items.length === 1 && isLarge(only.file.size)) {
      const response = await this.withRetries(() =>
        findOpenUpload(this.place, only, (content) => this.hashing.md5(content)),
      );
      if (response) return response;
    }
    const files = items.map((item) => ({
      relativeKey: item.path,
      file_size: item.file.size,
      num_parts: wantedParts(item.file.size),
      checksumSha256: sums.get(item),
    }));
    const body = { ...this.place, uploadType: 'assetFile' as const, files };
    const started = await this.withRetries(() => reply(api.POST('/uploads', { body })));
    return { ...started, files: started.files.map((file) => ({ ...file, stored: [] })) };
  }

  private async upload(sums: ReadonlyMap<Item, string>, signal: AbortSignal): Promise<void> {
    const items = [...sums.keys()];
    let uploadId: string | null = null;
    try {
      const body = { ...this.place, uploadType: 'assetFile' as const };
      const started = await this.openUpload(sums);
      uploadId = started.uploadId;
      const files: { relativeKey: string; uploadIdS3: string; parts: Part[] }[] = [];
      for (const target of started.files) {
        const item = items.find((item) => item.path === target.relativeKey);
        if (!item) continue;
        // A file without parts is abandoned; the others of its upload are completed.
        const parts = await this.send(item, target, started.uploadId).catch((error: unknown) => {
          this.fail([item], error);
          return null;
        });
        files.push({
          relativeKey: target.relativeKey,
          uploadIdS3: target.uploadIdS3,
          parts: parts ?? [],
        });
      }
      signal.throwIfAborted();
      const left = items.filter((item) => item.state === 'sent');
      if (!left.length) {
        // What was sent of a large file is kept for the next try.
        if (!items.some((item) => isLarge(item.file.size))) await this.abandon(uploadId);
        return;
      }
      left.forEach((item) => this.set(item, { state: 'completing' }));
      const id = uploadId;
      const done = await this.withRetries(() =>
        replyWithHeaders(
          api.POST('/uploads/{uploadId}/complete', {
            params: { path: { uploadId: id } },
            body: { ...body, files },
          }),
        ),
      );
      recordWrite(done.headers);
      for (const result of done.data.fileResults) {
        const item = left.find((item) => item.path === result.relativeKey);
        if (item && result.success) this.set(item, { state: 'done', sent: item.file.size });
        else if (item) this.fail([item], new Error(result.error ?? done.data.message));
      }
    } catch (error) {
      if (signal.aborted) {
        items.forEach((item) => this.set(item, { state: 'waiting', sent: 0 }));
        if (uploadId) await this.abandon(uploadId);
      } else if (uploadId === null && items.length > 1 && isInputRefused(error)) {
        // One file is refused with all others of its request: the halves find which one.
        const all = [...sums];
        const half = Math.ceil(all.length / 2);
        await this.upload(new Map(all.slice(0, half)), signal);
        await this.upload(new Map(all.slice(half)), signal);
      } else
        this.fail(
          items.filter((item) => !/done|failed|skipped/.test(item.state)),
          error,
        );
    }
  }

  private async send(item: Item, target: UploadTarget, uploadId: string): Promise<Part[]> {
    const parts = await sendParts(item.file, target, {
      uploadId,
      signal: this.stopping.signal,
      withRetries: (act) => this.withRetries(act),
      onProgress: (sent) => this.set(item, { state: 'sending', sent }),
    });
    this.set(item, { state: 'sent', sent: item.file.size });
    return parts;
  }

  /** Whether the asset has this very file: the same path, size and checksum. */
  private async isUploaded(item: Item, sha256: string): Promise<boolean> {
    if (this.knownSizes.get(item.path) !== item.file.size) return false;
    const params = { path: this.place, query: { filePath: item.path } };
    const response = await this.withRetries(() =>
      reply(api.GET('/database/{databaseId}/assets/{assetId}/fileInfo', { params })),
    );
    return response.checksumSha256 === sha256 && !response.isArchived;
  }

  /** Repeats what may succeed a little later, and waits while the upload is paused or offline. */
  private async withRetries<T>(act: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      await this.waitWhilePaused();
      this.stopping.signal.throwIfAborted();
      try {
        return await act();
      } catch (error) {
        const ended = this.stopping.signal.aborted;
        if (!isTransient(error) || attempt >= TRIES || ended) throw error;
        await this.waitFor(error, attempt);
      }
    }
  }

  /** Waits before another try, which is shown while a server is busy. */
  private async waitFor(error: unknown, attempt: number): Promise<void> {
    const milliseconds = retryDelay(error, attempt);
    const until = Date.now() + milliseconds;
    const show = () =>
      this.change({ busyUntil: this.waits.length ? Math.max(...this.waits) : null });
    if (isBusy(error)) {
      this.waits.push(until);
      show();
    }
    await sleep(milliseconds, this.stopping.signal);
    this.waits = this.waits.filter((end) => end > Date.now() && end !== until);
    show();
  }

  private async waitWhilePaused(): Promise<void> {
    if (this.progress.current().paused)
      await new Promise<void>((resolve) => (this.resumeWaiting = resolve));
    await waitUntilOnline(this.stopping.signal);
  }

  private async abandon(uploadId: string): Promise<void> {
    // It ends by itself after some days; nothing of it is visible until then.
    await api.DELETE('/uploads/{uploadId}', { params: { path: { uploadId } } }).catch(() => null);
  }

  private fail(items: readonly Item[], error: unknown): void {
    const final = isFinal(error) || error instanceof UnreadableFileError;
    items.forEach((item) => this.set(item, { state: 'failed', error: errorText(error), final }));
  }

  private set(item: Item, next: Partial<Item>): void {
    Object.assign(item, next);
    this.change({});
  }

  private change(next: Partial<Progress>): void {
    const progress = this.progress.current();
    this.progress.set({ ...progress, ...next, items: [...(next.items ?? progress.items)] });
  }
}
