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
    /** By which an administrator finds a failure of the server in its logs. */
    readonly requestId = '',
  ) {
    super(message);
  }

  static of(response: Response, body: unknown, isWrite = false): ApiError {
    if (isSignedOut(response.status, body)) return new SignedOutError();
    const fields = isRecord(body) && Array.isArray(body.errors) ? body.errors.filter(isField) : [];
    const message = isRecord(body) && typeof body.message === 'string' ? body.message : '';
    const code = isRecord(body) && typeof body.code === 'string' ? body.code : '';
    const after = Number(response.headers.get('retry-after'));
    const seconds = Number.isFinite(after) && after > 0 ? after : null;
    // Without a code, the words are those of a gateway: they say nothing to a person.
    const wording =
      (code && message) || gatewayMessage(response.status, seconds, isWrite) || message;
    return new ApiError(
      response.status,
      code,
      wording || texts.errors.status(response.status),
      fields,
      seconds,
      response.status >= 500 ? requestId(response, body) : '',
    );
  }
}

/** The id of the product's log, or of the gateway if the product did not reply. */
const requestId = (response: Response, body: unknown): string =>
  isRecord(body) && typeof body.requestId === 'string'
    ? body.requestId
    : (response.headers.get('apigw-requestid') ?? '');

/** The gateway accepts the credential no longer: it expired, or was deleted or revoked. */
export class SignedOutError extends ApiError {
  constructor() {
    // Not 403, which says that the user may not do this.
    super(401, '', texts.errors.signedOut);
  }
}

function isSignedOut(status: number, body: unknown): boolean {
  if (isRecord(body) && body.code) return false;
  // The authorizer of the gateway replies with this message to a credential that it refuses.
  return status === 401 || (status === 403 && isRecord(body) && body.message === 'Forbidden');
}

function gatewayMessage(status: number, seconds: number | null, isWrite: boolean): string {
  // A gateway that waited in vain does not know what the server did after all.
  if (status >= 500) return isWrite ? texts.errors.unclear(status) : texts.errors.failed(status);
  if (status !== 429) return '';
  return seconds ? `${texts.errors.busy} ${texts.errors.retryIn(seconds)}` : texts.errors.busy;
}

/** No reply came: the network, the server or the browser stopped the request. */
export class NetworkError extends Error {
  constructor(isWrite = false) {
    super(isWrite ? texts.errors.networkUnclear : texts.errors.network);
  }
}

/** The object storage refused a presigned request, or did not respond (status 0). */
export class StorageError extends Error {
  constructor(readonly status: number) {
    super(status ? texts.errors.storage(status) : texts.errors.network);
  }

  get transient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** A job that continued a change has failed or was cancelled: the reasons that it noted. */
export class JobFailedError extends Error {
  constructor(problems: readonly string[]) {
    super(problems.at(-1) ?? texts.errors.job);
  }
}

/**
 * What happened, in sentences for a person: the server's words where there are any. The names that
 * the API has for its fields are replaced by those of the page's forms.
 */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) {
    const sentences = new Set(refusedFields(error).map(fieldSentence));
    if (error.requestId) sentences.add(texts.errors.request(error.requestId));
    return replaceIds([...sentences].join(' '));
  }
  if (error instanceof JobFailedError)
    return replaceIds(fieldSentence({ field: '', message: error.message }));
  // Errors of the browser have a name of their own, and words for developers.
  if (!(error instanceof Error) || error.name !== 'Error') return texts.errors.unknown;
  return replaceIds(error.message);
}

/** What the API calls the fields that it refused, or the only thing that its code is about. */
export function errorFields(error: unknown): string[] {
  if (!(error instanceof ApiError)) return [];
  const names = refusedFields(error)
    .map(({ field }) => fieldName(field))
    .filter(Boolean);
  return names.length ? [...new Set(names)] : [error.code];
}

/** A sentence for each field of a refusal; of another error one for no field. */
export function fieldTexts(error: unknown): FieldError[] {
  if (!(error instanceof ApiError)) return [{ field: '', message: errorText(error) }];
  return refusedFields(error).map((refused) => ({
    field: refused.field,
    message: replaceIds(fieldSentence(refused)),
  }));
}

/** The fields that a refusal is about, of which its message may be the only one. */
const refusedFields = (error: ApiError): readonly FieldError[] =>
  error.fields.length ? error.fields : [parseFieldMessage(error.message)];

/** The refusal with other sentences for some of its fields; for null, the sentence stays. */
export function withFieldMessages(
  error: ApiError,
  wording: (field: string, fact: string, isPredicate: boolean) => string | null,
): ApiError {
  const fields = refusedFields(error).map(({ field, message }) => ({
    field,
    message: wording(field, message, PREDICATE.test(message)) ?? message,
  }));
  const { status, code, message, retryAfter, requestId } = error;
  return new ApiError(status, code, message, fields, retryAfter, requestId);
}

const CLOSED = /^(?:The )?asset (?:is )?not distributable\.?$/i;

const ID = '[xy][0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const NAMED = new RegExp(`\\b(asset|upload) ${ID}\\b`, 'gi');
const KEY = new RegExp(`(?:[^\\s/]+/)*${ID}(?=/)`, 'g');
const JOB = /\bjob \w+(?:\.[\w-]+)+/g;

/**
 * An id says nothing to a person, who sees which asset it is; ids that people chose are names.
 * Whether files may be downloaded is called so on the page.
 */
const replaceIds = (wording: string): string =>
  wording
    .replace(CLOSED, texts.errors.notDistributable)
    .replace(KEY, '')
    .replace(
      NAMED,
      (_, noun: string) => `${/^[A-Z]/.test(noun) ? 'The' : 'the'} ${noun.toLowerCase()}`,
    )
    .replace(JOB, texts.errors.otherJob);

/** A message about one field begins with its name, also where it is not listed as that of one. */
function parseFieldMessage(message: string): FieldError {
  const [, field = '', fact = message] = /^([a-z]\w*(?:\.\w+)*): (.+)$/s.exec(message) ?? [];
  return { field, message: fact };
}

/** `must not be empty` needs a subject; `tag X does not exist` has one. */
const PREDICATE = /^(must|is|are|has|have|does|cannot|results|leaves|contains|exceeds|needs)\b/;

const ARTICLE = /^(the|an?|this|these|no|another|all) /;

/** `metadata.3.key` is the field `key`. */
const fieldName = (field: string): string =>
  field.split('.').findLast((name) => /\D/.test(name)) ?? '';

function fieldSentence({ field, message }: FieldError): string {
  const subject = new Map<string, string>(Object.entries(texts.fields)).get(fieldName(field));
  const wording = PREDICATE.test(message) ? `${subject ?? texts.errors.value} ${message}` : message;
  // A message about no field may begin with a name, which stays as it is.
  const sentence =
    field || ARTICLE.test(wording) ? wording.slice(0, 1).toUpperCase() + wording.slice(1) : wording;
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Repeats what may succeed a little later: no reply, too many requests, a service that is down. */
export function isTransient(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  if (error instanceof StorageError) return error.transient;
  return error instanceof ApiError && (error.status === 429 || error.status >= 502);
}

/** Whether it is not known what the server did: no reply of the product itself came. */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return error instanceof ApiError && error.status >= 500 && !error.code;
}

/** Whether to offer another try: a refusal would be the same. Storage gets another address. */
export const isRetryable = (error: unknown): boolean =>
  isTransient(error) ||
  error instanceof StorageError ||
  (error instanceof ApiError && error.status >= 500);

/** Another try of an upload cannot succeed; it may once someone signed in, or a job has ended. */
export const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && !isRetryable(error) && ![401, 409].includes(error.status);

/** The content of a request was refused: another content may be accepted. */
export function isInputRefused(error: unknown): boolean {
  return error instanceof ApiError && [400, 413, 422].includes(error.status);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isField(value: unknown): value is FieldError {
  return isRecord(value) && typeof value.field === 'string' && typeof value.message === 'string';
}
