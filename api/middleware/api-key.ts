/** The key of a service account that a request carries. */
import type { Context as KoaContext } from 'koa';
import { actorOfApiKey, type ServiceAccountActor } from '../../controller/identity/access/index.ts';
import { unauthorized } from '../../controller/platform/operation/errors.ts';
import type { RequestHandler } from '../handler.ts';

/**
 * A session cookie is no key here, so no other site can use one that a browser has.
 *
 * @throws UNAUTHORIZED without a valid key
 */
export async function readApiKey(
  handler: RequestHandler,
  ctx: KoaContext,
): Promise<{ actor: ServiceAccountActor; apiKey: string }> {
  const apiKey = /^Bearer +(\S+) *$/i.exec(ctx.get('authorization'))?.[1];
  if (apiKey === undefined) {
    handler.anonymousLimit.take(ctx.state.ipAddress);
    throw unauthorized('Send the key of a service account: Authorization: Bearer svc_…');
  }
  const actor = await actorOfApiKey(
    { ...handler.context(ctx, { type: 'anonymous' }), db: handler.essential },
    apiKey,
  );
  if (!actor) {
    handler.anonymousLimit.take(ctx.state.ipAddress);
    throw unauthorized('This key is not known, has expired or was revoked');
  }
  return { actor, apiKey };
}
