/** One try of one message. Whatever happens becomes an outcome; only the end of the controller, or of the request, throws. */
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import { MailError } from '../../../platform/net/mail/mailer.ts';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { DomainError } from '../../../platform/operation/errors.ts';
import { readMailto } from '../endpoints/mail-addresses.ts';
import { resolveSecrets } from '../endpoints/resolve-secrets.ts';
import type { EndpointSecrets } from '../endpoints/sealed-fields.ts';
import type { EndpointRow } from '../endpoints/store.ts';
import { assertTarget } from '../endpoints/target.ts';
import type { Rendered } from '../formats/message.ts';
import { messageRequest } from './request.ts';
import { isFinalStatus, readRetryAfter } from './retries.ts';

const DEADLINE_MS = 15_000;

export interface SendOutcome {
  at: Date;
  isDelivered: boolean;
  /** Of HTTP or SMTP. */
  status: number | null;
  /** For users: names the host and nothing of the answer but its status. */
  error: string | null;
  /** Another try is of no use. */
  isFinal: boolean;
  retryAfterMs: number | null;
  durationMs: number;
}

export interface OutgoingMessage {
  deliveryId: string;
  format: NotificationFormat;
  rendered: Rendered;
}

type Result = Omit<SendOutcome, 'at' | 'durationMs'>;

const failed = (error: string, more: Partial<Result> = {}): Result => ({
  ...{ isDelivered: false, status: null, error, isFinal: false, retryAfterMs: null },
  ...more,
});

export async function sendMessage(
  ctx: Context,
  endpoint: EndpointRow,
  message: OutgoingMessage,
): Promise<SendOutcome> {
  const at = new Date(ctx.clock.now());
  const since = ctx.clock.monotonic();
  const { rendered } = message;
  const result =
    rendered.type === 'email'
      ? await sendMail(ctx, endpoint, message.deliveryId, rendered)
      : await post(ctx, endpoint, { ...message, rendered }, at);
  // A try that was cut off here says nothing of the receiver.
  if (!result.isDelivered) ctx.signal.throwIfAborted();
  return { ...result, at, durationMs: ctx.clock.monotonic() - since };
}

/** Secrets that git names may be missing, or hold what does not fit: nobody has checked them together before. */
async function usableSecrets(
  ctx: Context,
  endpoint: EndpointRow,
): Promise<EndpointSecrets | { problem: string }> {
  try {
    const secrets = await resolveSecrets(ctx, endpoint);
    if (endpoint.managedBy === 'git') assertTarget({ ...secrets, format: endpoint.format });
    return secrets;
  } catch (error) {
    if (error instanceof DomainError) return { problem: error.message };
    throw error;
  }
}

async function post(
  ctx: Context,
  endpoint: EndpointRow,
  message: OutgoingMessage & { rendered: Extract<Rendered, { type: 'http' }> },
  at: Date,
): Promise<Result> {
  const secrets = await usableSecrets(ctx, endpoint);
  if ('problem' in secrets) return failed(secrets.problem);
  const { url, headers, body, secretHeaders, redirects } = messageRequest({
    ...{ ...message, at, secrets },
    previousSecretUntil: endpoint.previousSecretUntil,
    isOfEnvironment: endpoint.environmentId !== null,
  });
  try {
    const answer = await ctx.services.outgoing.ask(url, {
      ...{ method: 'POST', headers, body, secretHeaders, redirects },
      ...{ signal: ctx.signal, deadlineMs: DEADLINE_MS, ignoreBody: true, hasSecretPath: true },
    });
    const { status } = answer;
    if (status >= 200 && status < 300) return { ...failed(''), isDelivered: true, status, error: null };
    return failed(`the receiver answers with status ${status}`, {
      status,
      isFinal: isFinalStatus(status),
      retryAfterMs: readRetryAfter(answer.headers.get('retry-after'), ctx.clock.now()),
    });
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    return failed(error.message, { isFinal: error.isForbidden || error.fault === 'redirected' });
  }
}

async function sendMail(
  ctx: Context,
  endpoint: EndpointRow,
  id: string,
  { subject, text, html }: Extract<Rendered, { type: 'email' }>,
): Promise<Result> {
  const { mailer } = ctx.services;
  if (!mailer) return failed('this installation sends no e-mail: its operator has to set HEADGATE_SMTP_URL');
  const secrets = await usableSecrets(ctx, endpoint);
  if ('problem' in secrets) return failed(secrets.problem);
  const to = readMailto(secrets.url);
  const signal = AbortSignal.any([ctx.signal, AbortSignal.timeout(2 * DEADLINE_MS)]);
  try {
    const { rejected } = await mailer.send({ id, to, subject, text, html, signal });
    const note = rejected.length > 0 ? `the mail server rejects ${rejected.join(', ')}` : null;
    return { ...failed(''), isDelivered: true, error: note };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return failed(error.message, { status: error.status, isFinal: error.isFinal });
  }
}
