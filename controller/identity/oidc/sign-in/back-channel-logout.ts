/** Handles logout tokens, by which a provider reports the end of a session: OpenID Connect Back-Channel Logout 1.0, 2.4 to 2.8. */
import { hash } from 'node:crypto';
import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Context } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import { ownScope } from '../../../platform/operation/operation.ts';
import { isRecord } from '../../../platform/text/is-record.ts';
import { deleteSessionsAtProvider } from '../../access/index.ts';
import { SIGNATURES } from '../provider/provider-keys.ts';
import { consumeAttempt, listOidcProviders, type OidcProvider } from '../provider/provider-store.ts';
import { dropOnlineRefreshTokens } from '../refresh/confirmations-store.ts';

export const LOGOUT_TOKEN_LENGTH = 16_000;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const TOLERANCE_SECONDS = 60;
/** A generous limit: section 2.4 recommends two minutes. */
const MAX_AGE_SECONDS = 600;
const TYPES = new Set(['logout+jwt', 'application/logout+jwt', 'jwt']);
const MAX_TEXT_LENGTH = 255;

/** The refusal is for the provider and contains nothing of the token. */
export type LogoutResult = { ended: number } | { refusal: string };

interface Logout {
  issuer: string;
  subject: string | null;
  sid: string | null;
  jti: string;
  expiresAt: Date;
}

export async function logOutByProvider(ctx: Context, token: string): Promise<LogoutResult> {
  const checked = await verifyLogoutToken(ctx, token).catch((error: unknown) => ({
    refusal: messageOf(error),
  }));
  if ('refusal' in checked) {
    ctx.log.warn({ reason: checked.refusal }, 'a logout token was rejected');
    return checked;
  }
  return ctx.db.transaction(async (tx) => {
    const inside = { ...ctx, db: tx };
    const mark = Buffer.from(hash('sha256', `logout ${checked.issuer} ${checked.jti}`, 'hex'), 'hex');
    if (!(await consumeAttempt(tx, mark, new Date(ctx.clock.now()), checked.expiresAt)))
      return { refusal: 'this logout token was used already' };
    const ended = await deleteSessionsAtProvider(inside, checked);
    if (checked.subject !== null)
      await dropOnlineRefreshTokens(tx, { issuer: checked.issuer, subject: checked.subject });
    // Sessions that do not exist count as ended: section 2.7.
    for (const [userId, count] of ended)
      await writeAudit(
        { ...inside, actor: { type: 'system', name: 'identity provider' } },
        ownScope,
        [
          {
            entityType: 'User',
            entityId: userId,
            metadata: { by: 'provider', issuer: checked.issuer, ended: count },
          },
        ],
        'user.signedOut',
      );
    return { ended: [...ended.values()].reduce((sum, count) => sum + count, 0) };
  });
}

async function verifyLogoutToken(ctx: Context, token: string): Promise<Logout | { refusal: string }> {
  const provider = await providerOf(ctx, decodeJwt(token));
  if (!provider) return { refusal: 'the token is not from a provider and client that are configured here' };
  const { payload, protectedHeader } = await jwtVerify(
    token,
    await ctx.services.identityProvider.keys(provider),
    {
      ...{ issuer: provider.issuer, audience: provider.clientId, algorithms: SIGNATURES },
      ...{
        clockTolerance: TOLERANCE_SECONDS,
        maxTokenAge: MAX_AGE_SECONDS,
        currentDate: new Date(ctx.clock.now()),
      },
      requiredClaims: ['iss', 'aud', 'iat', 'exp', 'jti', 'events'],
    },
  );
  if (protectedHeader.typ !== undefined && !TYPES.has(protectedHeader.typ.toLowerCase()))
    return { refusal: 'typ is not that of a logout token' };
  const { events, jti } = payload;
  if (!isRecord(events) || !isRecord(events[EVENT])) return { refusal: 'events does not name a logout' };
  if ('nonce' in payload) return { refusal: 'a logout token must not have a nonce' };
  const [subject, sid] = [textOf(payload.sub), textOf(payload.sid)];
  if (subject === undefined || sid === undefined || (subject ?? sid) === null)
    return { refusal: 'neither sub nor sid identifies the session' };
  if (typeof jti !== 'string' || jti === '' || jti.length > MAX_TEXT_LENGTH)
    return { refusal: 'jti is missing' };
  // The mark of the used token must last until the token is too old.
  const expiresAt = new Date(ctx.clock.now() + (MAX_AGE_SECONDS + 2 * TOLERANCE_SECONDS) * 1_000);
  return { issuer: provider.issuer, subject, sid, jti, expiresAt };
}

/** Null where the claim is absent, undefined where it is invalid. */
function textOf(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_TEXT_LENGTH &&
    !/[\p{Cc}\p{Cs}]/u.test(value)
    ? value
    : undefined;
}

/** The provider of an unverified token, found before any keys are fetched. */
async function providerOf(ctx: Context, { iss, aud }: JWTPayload): Promise<OidcProvider | null> {
  const audience = [aud].flat();
  const providers = await listOidcProviders(ctx.db);
  return providers.find(({ issuer, clientId }) => issuer === iss && audience.includes(clientId)) ?? null;
}
