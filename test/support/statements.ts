import pg from 'pg';
import { connect } from '../../controller/database/connect.ts';
import type { Actor } from '../../controller/platform/context.ts';
import type { Operation } from '../../controller/platform/operation.ts';
import type { Role } from '../../schemas/api/common.ts';
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
    ...{ isSuperAdmin: false, roles: new Map(Object.entries(roles)), sessionId: 's', owes: null },
  };
  const context = { ...test.controller.systemContext('test'), db, actor };
  try {
    // Those of whoever asks first.
    context.services.statuses.drop();
    await test.controller.execute(operation, context, input);
    return count;
  } finally {
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
