import pg from 'pg';
import { connect } from '../../../controller/database/connect.ts';
import { createSnapshots } from '../../../controller/fleet/status/index.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import type { Operation } from '../../../controller/platform/operation/operation.ts';
import type { Role } from '../../../schemas/api/common.ts';
import type { TestController } from './controller.ts';

/** How many statements an operation makes for somebody with these roles, by team. */
export async function countStatements(
  test: TestController,
  roles: Readonly<Record<string, Role>>,
  operation: Operation,
  input: object = {},
): Promise<number> {
  const db = connect(test.databaseUrl, { poolSize: 1 });
  let count = 0;
  db.on('query', () => (count += 1));
  const actor: Actor = {
    ...{ type: 'user', userId: 'counted', email: 'counted@example.org', name: 'Counted' },
    ...{ isSuperAdmin: false, roles: new Map(Object.entries(roles)), sessionId: 's', requiredAction: null },
  };
  const shared = test.controller.systemContext('test');
  // Joins of its own: what a loop of the controller has just read is not to be found here.
  const statuses = createSnapshots({ bus: shared.services.bus, clock: shared.clock });
  const context = { ...shared, db, actor, services: { ...shared.services, statuses } };
  try {
    await test.controller.execute(operation, context, input);
    return count;
  } finally {
    statuses.stop();
    await db.destroy();
  }
}

/** Every statement that this process sends from now on, over whichever pool of whichever controller. `stop` ends it. */
export function watchStatements(): { seen: readonly string[]; stop(): void } {
  const seen: string[] = [];
  const { prototype } = pg.Client as unknown as { prototype: { query: (...args: unknown[]) => unknown } };
  const send = prototype.query;
  prototype.query = function query(...args) {
    const [first] = args as [string | { text?: string }];
    seen.push(typeof first === 'string' ? first : (first?.text ?? ''));
    return send.apply(this, args);
  };
  return {
    seen,
    stop() {
      prototype.query = send;
    },
  };
}
