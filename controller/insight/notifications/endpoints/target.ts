/** Checks what an endpoint is made of, as a whole: each format has its own kind of address and secret. */
import type { NotificationFormat } from '../../../../schemas/api/insight/notifications.ts';
import { OutgoingError } from '../../../platform/net/outgoing/index.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { badRequest, preconditionFailed } from '../../../platform/operation/errors.ts';
import { assertHeaders, type Headers } from './headers.ts';
import { isMailto, readMailto } from './mail-addresses.ts';
import { assertSigningSecret } from './signing.ts';

export interface EndpointTarget {
  format: NotificationFormat;
  url: string;
  secret: string | null;
  headers: Headers;
}

const KEY_NAMES: Partial<Record<NotificationFormat, string>> = {
  pagerduty: 'the integration key of a PagerDuty service (Events API v2)',
  opsgenie: 'the API key of an Opsgenie integration',
};

export const isIncidentService = (format: NotificationFormat): boolean => KEY_NAMES[format] !== undefined;

export const formatOf = (format: NotificationFormat | undefined, url: string): NotificationFormat =>
  format ?? (isMailto(url) ? 'email' : 'standard');

/** Asks the name server: not inside a transaction. */
export async function assertReachable(ctx: Context, url: string): Promise<void> {
  if (isMailto(url)) {
    readMailto(url);
    if (!ctx.services.mailer)
      throw preconditionFailed(
        'This installation sends no e-mail: its operator has to set HEADGATE_SMTP_URL, for example smtps://user:password@smtp.example.com',
      );
    return;
  }
  try {
    await ctx.services.outgoing.check(url);
  } catch (error) {
    if (error instanceof OutgoingError) throw badRequest(`url: ${error.message}`);
    throw error;
  }
}

export function assertTarget({ format, url, secret, headers }: EndpointTarget): void {
  assertHeaders(headers);
  const isMail = isMailto(url);
  if (isMail !== (format === 'email'))
    throw badRequest(
      isMail
        ? `format: a mailto: URL is for the format email, not ${format}; give an https:// URL, or the format email`
        : 'url: the format email needs a mailto: URL, for example mailto:on-call@example.com',
    );
  if (isMail && Object.keys(headers).length > 0)
    throw badRequest('headers: an e-mail takes none; leave them out');
  const key = KEY_NAMES[format];
  if (key !== undefined) {
    if (secret === null) throw badRequest(`secret: the format ${format} needs one: ${key}`);
    if (!/^[\x21-\x7e]+$/.test(secret))
      throw badRequest(`secret: ${key} has only letters, digits and signs, and no blanks`);
    if (format === 'opsgenie' && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
      throw badRequest('headers: "Authorization" carries the API key of Opsgenie; leave it out');
  } else if (secret !== null) {
    if (format !== 'standard')
      throw badRequest(`secret: messages of the format ${format} are not signed; leave the secret out`);
    assertSigningSecret(secret);
  }
}
