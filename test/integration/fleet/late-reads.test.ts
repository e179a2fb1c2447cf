/** A database that answers late must not make the nodes that were heard meanwhile look silent. */
import { expect } from 'chai';
import { createSnapshots, readCells, readStatus } from '../../../controller/fleet/status/index.ts';
import type { Context, Services } from '../../../controller/platform/operation/context.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';
import { insertEnvironment, insertNodes, startFleetParts } from '../../support/scenes/fleet-parts.ts';

describe('the health of nodes where the database is slow', () => {
  const platform = usePlatform();

  it('is that of the moment at which it was asked for, in lists, of one node, and in the matrix', async () => {
    const clock = manualClock();
    const parts = await startFleetParts(platform, { clock });
    const environmentId = await insertEnvironment(platform);
    const [made] = await insertNodes(platform, environmentId, 1);
    const node = await parts.directory.authenticate(made?.token ?? '');
    if (!node) throw new Error('the node is not known');
    await parts.heartbeats.ingest(node, { agentVersion: '1', engineVersion: 'vector 0.57.0', pipelines: [] });
    await parts.heartbeats.flush();
    const statuses = createSnapshots({ bus: parts.bus, clock });
    const services = { bus: parts.bus, statuses, listeningSince: () => 0 } as unknown as Services;
    const ctx: Context = {
      ...{ db: platform.db, clock, log: QUIET, services, actor: { type: 'system', name: 'test' } },
      ...{ signal: AbortSignal.timeout(60_000), requestId: 'test', ipAddress: null },
    };
    const read = async (): Promise<(string | undefined)[]> => {
      const [list, one, cells] = await Promise.all([
        readStatus(ctx, { environmentId }),
        readStatus(ctx, { environmentId, nodeId: node.nodeId }),
        readCells(ctx, environmentId),
      ]);
      return [list.nodes[0]?.health, one.nodes[0]?.health, cells.nodes[0]?.health];
    };
    const blocker = await platform.db.transaction();
    await blocker.raw('LOCK TABLE node_presence IN ACCESS EXCLUSIVE MODE');
    const reading = read();
    await untilWaiting(platform.db, 3);
    clock.advance(60_000);
    await blocker.rollback();
    expect(await reading).to.deep.equal(['HEALTHY', 'HEALTHY', 'HEALTHY']);
    statuses.drop();
    expect(await read(), 'a minute later').to.deep.equal(['UNREACHABLE', 'UNREACHABLE', 'UNREACHABLE']);
    statuses.stop();
    await parts.stop();
  });
});
