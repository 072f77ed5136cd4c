import { texts } from '../texts';

interface FieldError {
  field: string;
  message: string;
}

/** A refusal of the server: its message and code as they are. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: readonly FieldError[] = [],
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  static of(response: Response, body: unknown): ApiError {
    const fields = isRecord(body) && Array.isArray(body.errors) ? body.errors.filter(isField) : [];
    const message = isRecord(body) && typeof body.message === 'string' ? body.message : '';
    const code = isRecord(body) && typeof body.code === 'string' ? body.code : '';
    const after = Number(response.headers.get('retry-after'));
    const seconds = Number.isFinite(after) && after > 0 ? after : null;
    // Without a code, the words are those of a gateway: they say nothing to a person.
    const words = (code && message) || gateway(response.status, seconds) || message;
    return new ApiError(
      response.status,
      code,
      words || texts.errors.status(response.status),
      fields,
      seconds,
    );
  }
}

function gateway(status: number, seconds: number | null): string {
  if (status >= 500) return texts.errors.failed(status);
  if (status !== 429) return '';
  return seconds ? `${texts.errors.busy} ${texts.errors.retryIn(seconds)}` : texts.errors.busy;
}

/** No reply came: the network, the server or the browser stopped the request. */
export class NetworkError extends Error {
  constructor() {
    super(texts.errors.network);
  }
}

/** One sentence for a person: what happened, in the server's words where there are any. */
export function sentence(error: unknown): string {
  if (error instanceof ApiError && error.fields.length) {
    return error.fields.map((each) => `${each.field}: ${each.message}`).join(' · ');
  }
  return error instanceof Error ? error.message : texts.errors.unknown;
}

/** Repeats what may succeed a little later: no reply, too many requests, a service that is down. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status >= 502);
}

/** The content of a request was refused: another content may be accepted. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && [400, 413, 422].includes(error.status);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isField(value: unknown): value is FieldError {
  return isRecord(value) && typeof value.field === 'string' && typeof value.message === 'string';
}
