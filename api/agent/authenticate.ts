import type { IncomingMessage } from 'node:http';
import type { KnownNode, NodeDirectory } from '../../controller/fleet/index.ts';
import { DomainError, unauthorized } from '../../controller/platform/errors.ts';

/** The node behind the request's bearer token; UNAUTHORIZED otherwise, with the remedy for a node that was revoked. */
export async function authenticateNode(
  directory: NodeDirectory,
  request: IncomingMessage,
): Promise<KnownNode> {
  const header = request.headers.authorization ?? '';
  const node = header.startsWith('Bearer ') ? await directory.authenticate(header.slice(7)) : null;
  if (!node) throw unauthorized('The node token is not known');
  if (node.revoked) {
    throw new DomainError(
      'UNAUTHORIZED',
      'This node was revoked. Delete the node-token file in SVC_DATA_DIR and restart the agent with a new SVC_TOKEN',
      { code: 'NODE_REVOKED' },
    );
  }
  return node;
}
