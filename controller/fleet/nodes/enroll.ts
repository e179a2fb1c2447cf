import type { EnrollRequest, EnrollResponse } from '../../../schemas/agent/protocol.ts';
import { mintToken, parseToken, sameHash } from '../../platform/crypto/tokens.ts';
import { writeAudit } from '../../platform/operation/audit-writer.ts';
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, unauthorized } from '../../platform/operation/errors.ts';
import { storableText } from '../../platform/text/storable-text.ts';
import { countNodes, countUse, enrollNode, lockEnrollmentToken, lockWaitingNode } from './store.ts';

/**
 * Enrolls a node. Answers 401 for an unknown or expired token; 403 for a revoked or used up one, or when the environment is
 * full. The response carries the node's own token, which is stored only as a hash.
 */
export async function enroll(ctx: Context, request: EnrollRequest): Promise<EnrollResponse> {
  const parsed = parseToken('hge', request.token);
  if (!parsed) throw unauthorized('The enrollment token is not valid; generate a new one in the environment');
  return ctx.db.transaction(async (tx) => {
    const token = await lockEnrollmentToken(tx, parsed.id);
    if (!token || !sameHash(token.tokenHash, parsed.hash)) {
      throw unauthorized('The enrollment token is not known; generate a new one in the environment');
    }
    if (token.expiresAt && token.expiresAt.getTime() <= ctx.clock.now()) {
      throw unauthorized('The enrollment token has expired; generate a new one in the environment');
    }
    if (token.revokedAt)
      throw forbidden('The enrollment token was revoked; generate a new one in the environment');
    if (token.maxUses !== null && token.uses >= token.maxUses) {
      throw forbidden('The enrollment token is used up; generate a new one in the environment');
    }
    const waiting = await lockWaitingNode(tx, token.environmentId, request.hostname);
    // A waiting node already counts against the limit.
    if (
      !waiting &&
      token.maxNodes !== null &&
      (await countNodes(tx, token.environmentId)) >= token.maxNodes
    ) {
      throw forbidden(`The environment has reached its limit of ${token.maxNodes} nodes`);
    }
    const minted = mintToken('hgn');
    const nodeId = await enrollNode(tx, {
      waiting,
      environmentId: token.environmentId,
      name: request.hostname,
      host: request.hostname,
      os: request.os,
      engineVersion: storableText(request.engineVersion || request.vectorVersion, 256) || null,
      channel: request.channel ?? 'stable',
      tokenId: minted.id,
      tokenHash: minted.hash,
    });
    await countUse(tx, token.id);
    const inside: Context = { ...ctx, db: tx, actor: { type: 'system', name: 'agent' } };
    await writeAudit(
      inside,
      { teamId: token.teamId, environmentId: token.environmentId },
      [
        {
          entityType: 'Node',
          entityId: nodeId,
          metadata: { hostname: request.hostname, enrollmentTokenId: token.id },
        },
      ],
      'node.enrolled',
    );
    await ctx.services.bus.publish(tx, { type: 'node', nodeId, environmentId: token.environmentId });
    await ctx.services.bus.publish(tx, {
      type: 'ui',
      environmentId: token.environmentId,
      topics: ['fleet', 'environments'],
    });
    return {
      nodeId,
      nodeToken: minted.token,
      environmentId: token.environmentId,
      environmentName: token.environmentName,
    };
  });
}
