/** The bearer token of a request of an agent: a personal token with a scope for it, or the key of a service account. */
import type { Context as KoaContext } from 'koa';
import {
  actorOfApiKey,
  actorOfPersonalToken,
  type ServiceAccountActor,
  type UserActor,
} from '../../controller/identity/access/index.ts';
import { forbidden, unauthorized } from '../../controller/platform/operation/errors.ts';
import { assertNoRequiredAction } from '../../controller/platform/operation/permissions.ts';
import type { RequestHandler } from '../handler.ts';

export interface AgentCaller {
  actor: UserActor | ServiceAccountActor;
  /** Under which its requests are counted. */
  key: string;
  /** Of the token, as its owner named it. */
  tokenName: string;
  mayWrite: boolean;
}

/** A session cookie opens nothing here, so no other site can use the one of a browser. */
export async function readAgentToken(handler: RequestHandler, ctx: KoaContext): Promise<AgentCaller> {
  const token = /^Bearer +(\S{1,200}) *$/i.exec(ctx.get('authorization'))?.[1];
  if (token === undefined)
    throw unauthorized('Send a personal token for agents: Authorization: Bearer hgp_…');
  const found = await findCaller(handler, ctx, token);
  if (!found) throw unauthorized('This token is not known, has expired or was revoked');
  return found;
}

async function findCaller(
  handler: RequestHandler,
  ctx: KoaContext,
  token: string,
): Promise<AgentCaller | null> {
  const db = handler.essential;
  const found = await actorOfPersonalToken(db, token);
  if (found) {
    const { actor, scopes, id, name } = found;
    const mayWrite = scopes.includes('mcp.write');
    if (!mayWrite && !scopes.includes('mcp'))
      throw forbidden('This personal token is for git: create one for agents in your account');
    assertNoRequiredAction(actor);
    return { actor, key: `token ${id}`, tokenName: name, mayWrite };
  }
  const account = await actorOfApiKey({ ...handler.context(ctx, { type: 'anonymous' }), db }, token);
  // Its permissions are those of a program that somebody wrote; what a model makes up is only proposed.
  return (
    account && { actor: account, key: `account ${account.id}`, tokenName: account.name, mayWrite: false }
  );
}
