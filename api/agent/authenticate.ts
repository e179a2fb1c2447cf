import type { IncomingMessage } from 'node:http';
import type { KnownNode, NodeDirectory } from '../../controller/fleet/index.ts';
import { DomainError, unauthorized } from '../../controller/platform/operation/errors.ts';
import { anonymousRateLimit } from '../middleware/anonymous-rate-limit.ts';

/**
 * The node behind the request's bearer token; UNAUTHORIZED otherwise, with the remedy for a node that was revoked.
 * TOO_MANY_REQUESTS where the client's address has sent too many tokens that are not known.
 */
export type AuthenticateNode = (request: IncomingMessage) => Promise<KnownNode>;

/**
 * Requests with unknown tokens are counted by address, apart from other unauthenticated requests: the nodes of an
 * environment that was deleted go on asking, and must not close the sign-in page to people behind the same address.
 */
export function createNodeAuthentication(
  directory: Pick<NodeDirectory, 'authenticate'>,
  addressOf: (request: IncomingMessage) => string,
): AuthenticateNode {
  const unknown = anonymousRateLimit();
  return async (request) => {
    const header = request.headers.authorization ?? '';
    const node = header.startsWith('Bearer ')
      ? await directory.authenticate(header.slice(7), () => unknown.check(addressOf(request)))
      : null;
    if (!node) {
      unknown.take(addressOf(request));
      throw unauthorized('The node token is not known');
    }
    if (node.revoked) {
      throw new DomainError(
        'UNAUTHORIZED',
        'This node was revoked. Delete the node-token file in SVC_DATA_DIR and restart the agent with a new SVC_TOKEN',
        { code: 'NODE_REVOKED' },
      );
    }
    return node;
  };
}
