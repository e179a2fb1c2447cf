/**
 * Numbers the audit log. Writers insert rows without a number and never wait for each other. The chainer, on the leader, numbers
 * the committed rows without gaps. A row that becomes visible late gets a late number, so that a reader who follows the numbers
 * misses no row.
 */
import type { Knex } from 'knex';
import type { Clock } from '../../../../reconcilers/loops/clock.ts';
import { createRunLoop } from '../../../../reconcilers/loops/run-loop.ts';
import { AUDIT_LOOP } from '../../../platform/operation/audit-writer.ts';
import type { Context, Services } from '../../../platform/operation/context.ts';
import { messageOf } from '../../../platform/operation/errors.ts';
import type { Lease } from '../../../platform/runtime/lease.ts';
import type { Logger } from '../../../platform/runtime/logger.ts';
import { anyUnnumbered, appendToChain, readHead, readUnnumbered } from '../store.ts';
import { chainAfter } from './chain.ts';
import { ensureChainKey } from './chain-key.ts';

const KEY = 'log';
const BATCH = 500;
/** A safety net, because signals may be lost. */
const EVERY_MS = 1_000;
const RETRY_MS = { first: 1_000, cap: 10_000 };
const DEADLINE_MS = 60_000;

export interface AuditChainer {
  start(): void;
  stop(): Promise<void>;
}

export function createAuditChainer(options: {
  db: Knex;
  services: Pick<Services, 'bus' | 'keyring'>;
  lease: Lease;
  clock: Clock;
  log: Logger;
}): AuditChainer {
  const { db, services, lease, clock, log } = options;
  const loop = createRunLoop<void>({
    name: 'audit chain',
    clock,
    concurrency: 1,
    deadlineMs: DEADLINE_MS,
    backoffMs: RETRY_MS,
    async reconcile(_, { signal }) {
      for (;;) {
        const epoch = lease.epoch();
        if (epoch === null || signal.aborted || !(await anyUnnumbered(db))) return;
        const numbered = await numberNext({ db, services }, (tx) => lease.fence(tx, epoch));
        if (numbered < BATCH) return;
      }
    },
    resync: () => EVERY_MS,
    onFailure: (_, error) => log.warn({ reason: messageOf(error) }, 'audit events could not be numbered'),
  });
  const off: (() => void)[] = [];
  return {
    start() {
      off.push(
        services.bus.on('wake', (signal) => {
          if (signal.loop === AUDIT_LOOP) loop.wake(KEY, signal.trigger);
        }),
      );
      loop.wake(KEY, 'start');
    },
    async stop() {
      for (const remove of off.splice(0)) remove();
      await loop.stop();
    },
  };
}

/**
 * Numbers at most one batch of waiting rows and returns how many. `fence` keeps a second chainer out until the transaction ends:
 * two chainers would use a number twice, which the database rejects.
 */
export function numberNext(
  { db, services }: Pick<Context, 'db'> & { services: Pick<Services, 'bus' | 'keyring'> },
  fence: (tx: Knex) => Promise<void>,
): Promise<number> {
  return db.transaction(async (tx) => {
    await fence(tx);
    const waiting = await readUnnumbered(tx, BATCH);
    if (waiting.length === 0) return 0;
    const key = await ensureChainKey(tx, services);
    await appendToChain(tx, key, chainAfter(await readHead(tx), waiting));
    return waiting.length;
  });
}
