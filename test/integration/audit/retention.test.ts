/** The audit log as long as it is kept: what is older goes from its beginning, and the rest is proved all the same. */
import { expect } from 'chai';
import {
  auditOperations,
  auditRetentionOperations,
  numberNext,
  pruneAuditLog,
  verifyAuditChain,
  verifyAuditLog,
  writeAudit,
} from '../../../controller/insight/audit/index.ts';
import type { Actor, Context } from '../../../controller/platform/operation/context.ts';
import { createExecute } from '../../../controller/platform/operation/execute.ts';
import { createLease } from '../../../controller/platform/runtime/lease.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { QUIET, useEachPlatform } from '../../support/harness/platform.ts';

const execute = createExecute(writeAudit);
const DAY_MS = 86_400_000;
const SYSTEM: Actor = { type: 'system', name: 'test' };
const ROOT: Actor = {
  ...{ type: 'user', userId: 'root', email: 'root@example.org', name: 'Root', isSuperAdmin: true },
  ...{ roles: new Map(), sessionId: 's', requiredAction: null },
};

describe('the retention of the audit log', () => {
  const platform = useEachPlatform();
  const NOW = Date.now();

  beforeEach(async () => {
    await platform.db('teams').insert({ id: 'team', name: 'Team' });
    await platform.db('environments').insert({ id: 'env', team_id: 'team', name: 'env' });
  });

  /** Numbered events, the oldest first; so many days old each. */
  async function tell(...days: number[]): Promise<void> {
    for (const age of days) {
      await writeAudit(
        platform.context(SYSTEM),
        { teamId: 'team', environmentId: 'env' },
        [{ entityType: 'Thing', entityId: `of ${age} days` }],
        'thing.changed',
      );
      await platform
        .db('audit_log')
        .whereNull('seq')
        .update({ created_at: new Date(NOW - age * DAY_MS) });
      await numberAll();
    }
  }
  const numberAll = async () => {
    while ((await numberNext(platform.context(SYSTEM), async () => {})) > 0);
  };
  const keep = (retentionDays: number | null) =>
    execute(auditRetentionOperations.updateAudit, platform.context(ROOT), { retentionDays });
  const prune = (batch?: number, more: Partial<Context> = {}) =>
    pruneAuditLog({ ...platform.context(SYSTEM), ...more }, batch);
  const kept = (): Promise<string[]> =>
    platform.db('audit_log').where({ action: 'thing.changed' }).orderBy('seq').pluck('entity_id');
  const told = () =>
    platform.db('audit_log').where({ action: 'audit.pruned' }).orderBy('seq').select('seq', 'metadata');

  it('is for ever until somebody says otherwise', async () => {
    await tell(4_000, 1);
    expect(await prune()).to.deep.equal({ deleted: 0, broken: null });
    expect(await kept()).to.have.length(2);
  });

  it('is set by a super admin, and told with what it was', async () => {
    expect(await keep(90)).to.deep.equal({ retentionDays: 90 });
    await keep(365);
    await keep(365);
    await keep(null);
    const rows = await platform
      .db('audit_log')
      .where({ action: 'settings.auditUpdated' })
      .orderBy('id')
      .select('diff', 'entity_type', 'entity_id', 'user_id');
    expect(rows.map(({ diff }) => diff)).to.deep.equal([
      { retentionDays: [null, 90] },
      { retentionDays: [90, 365] },
      null,
      { retentionDays: [365, null] },
    ]);
    expect(rows[0]).to.include({ entity_type: 'Settings', entity_id: 'audit', user_id: 'root' });
  });

  it('is told truly by each of many who set it at once', async () => {
    const days = Array.from({ length: 10 }, (_, n) => 100 + n);
    await Promise.all(days.map(keep));
    const rows: { diff: { retentionDays: [number | null, number] } }[] = await platform
      .db('audit_log')
      .where({ action: 'settings.auditUpdated' })
      .select('diff');
    const befores = rows.map(({ diff }) => diff.retentionDays[0]);
    const { value } = await platform.db('settings').where({ key: 'audit' }).first('value');
    // Each was followed by one other, and the last by none.
    expect(new Set([...befores, value.retentionDays])).to.deep.equal(new Set([null, ...days]));
    expect(new Set(befores).size).to.equal(10);
  });

  it('deletes what is older from the beginning, in batches, and tells of each', async () => {
    await tell(400, 300, 200, 100, 31, 29, 0);
    await keep(30);
    await numberAll();
    expect(await prune(2)).to.deep.equal({ deleted: 5, broken: null });
    expect(await kept()).to.deep.equal(['of 29 days', 'of 0 days']);
    await numberAll();
    expect(
      (await told()).map(({ metadata: { events, from, through } }) => [events, from, through]),
    ).to.deep.equal([
      [2, 1, 2],
      [2, 3, 4],
      [1, 5, 5],
    ]);
    expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
    expect(await verifyAuditLog(platform.db, platform.keyring)).to.deep.include({
      from: 6,
      broken: null,
      unnumbered: false,
    });
    expect(await prune(2)).to.deep.equal({ deleted: 0, broken: null });
  });

  it('goes by the clock that it is given, to the moment', async () => {
    await tell(10);
    await keep(30);
    await numberAll();
    const clock = manualClock(NOW + 20 * DAY_MS - 1);
    expect((await prune(10, { clock })).deleted).to.equal(0);
    clock.advance(2);
    expect((await prune(10, { clock })).deleted).to.equal(1);
  });

  it('keeps an old event that was numbered after a young one', async () => {
    await tell(100, 1, 100);
    await keep(30);
    await prune();
    expect(await kept()).to.deep.equal(['of 1 days', 'of 100 days']);
    await numberAll();
    expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
  });

  it('numbers and proves on where all events were old', async () => {
    await tell(100, 100, 100);
    await platform.db('settings').insert({ key: 'audit', value: JSON.stringify({ retentionDays: 30 }) });
    await prune();
    await tell(0);
    expect((await platform.db('audit_log').orderBy('seq').pluck('seq')) as number[]).to.deep.equal([4, 5]);
    expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
  });

  it('proves on when the events that told of deletions are old themselves', async () => {
    await tell(100);
    await keep(30);
    await numberAll();
    const clock = manualClock(NOW);
    for (let month = 0; month < 4; month++) {
      await prune(1, { clock });
      await numberAll();
      expect(await verifyAuditChain(platform.db, platform.keyring), `after ${month} months`).to.equal(null);
      clock.advance(31 * DAY_MS);
    }
  });

  const SPOILT: [reason: string, spoil: string, broken: number][] = [
    ['the first event that is kept', 'DELETE FROM audit_log WHERE seq = 4', 4],
    ['events of the beginning', 'DELETE FROM audit_log WHERE seq <= 5', 4],
    [
      'events of the beginning, and writes down where it begins',
      `UPDATE settings SET value = jsonb_build_object('seq', 5, 'hash', (SELECT hash FROM audit_log WHERE seq = 5))
        WHERE key = 'auditAnchor'; DELETE FROM audit_log WHERE seq <= 5`,
      5,
    ],
    ['where it begins', `DELETE FROM settings WHERE key = 'auditAnchor'`, 1],
    [
      'the hash of where it begins',
      `UPDATE settings SET value = jsonb_set(value, '{hash}', '"${'0'.repeat(64)}"') WHERE key = 'auditAnchor'`,
      3,
    ],
  ];
  for (const [reason, spoil, broken] of SPOILT) {
    it(`does not hide that somebody took out ${reason}`, async () => {
      await tell(100, 100, 100, 20, 10, 0);
      await keep(30);
      await prune();
      await numberAll();
      expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
      await platform.db.raw(spoil);
      expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(broken);
    });
  }

  it('does not delete beyond an old event that was removed or changed, and says so', async () => {
    await tell(100, 90, 80, 70, 0);
    await keep(30);
    await numberAll();
    await platform.db('audit_log').where({ seq: 3 }).update({ entity_id: 'another' });
    let log = '';
    const told = createLogger('info', {
      write: (line: string) => {
        log += line;
      },
    } as never);
    expect(await prune(10, { log: told })).to.deep.equal({ deleted: 2, broken: 3 });
    expect(log).to.include('headgate audit verify');
    await numberAll();
    expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(3);
    expect(await prune(10)).to.deep.equal({ deleted: 0, broken: 3 });
    expect(await kept()).to.have.length(3);
    await platform.db('audit_log').where({ seq: 3 }).delete();
    expect(await prune(10)).to.deep.equal({ deleted: 0, broken: 3 });
  });

  it('gives a program that follows the log the first event that is kept', async () => {
    await tell(100, 100, 100, 1, 0);
    await keep(30);
    await prune();
    const since = (after: string) =>
      execute(auditOperations.after, platform.context(SYSTEM), { environmentId: 'env', after });
    for (const after of ['0', '1', '3']) {
      const { events, cursor } = await since(after);
      expect(events.map(({ seq }) => seq)).to.deep.equal([4, 5]);
      expect(cursor).to.equal('5');
    }
  });

  it('deletes nothing for a leader that has lost its lease', async () => {
    await tell(100);
    await keep(30);
    const lease = createLease({ db: platform.db, key: 'leader', log: QUIET });
    await lease.start();
    const epoch = lease.epoch() ?? 0;
    await platform.db('leases').update({ epoch: epoch + 1, holder: 'another' });
    const late = await prune(10, { fence: (tx) => lease.fence(tx, epoch) }).then(
      () => null,
      (error: { code?: string }) => error.code,
    );
    await lease.stop();
    expect(late).to.equal('UNAVAILABLE');
    expect(await kept()).to.have.length(1);
  });

  it('asks for the lease last, so that its renewal does not wait for the work', async () => {
    await tell(100, 100, 100, 0);
    await keep(30);
    const left: (string | null)[][] = [];
    const fence = async (tx: Context['db']) => {
      left.push(await tx('audit_log').where({ action: 'thing.changed' }).orderBy('seq').pluck('entity_id'));
    };
    await prune(2, { fence });
    expect(left, 'what each transaction has left when it asks').to.deep.equal([
      ['of 100 days', 'of 0 days'],
      ['of 0 days'],
    ]);
  });

  it('is done once where two do it at the same moment', async () => {
    await tell(...Array<number>(12).fill(100), 0);
    await keep(30);
    // Who comes second to a batch gives up.
    await Promise.allSettled([prune(3), prune(3), prune(3)]);
    await prune(3);
    const ranges = (await told()).map(({ metadata: { from, through } }) => [from, through]);
    expect(ranges.sort(([a], [b]) => a - b)).to.deep.equal([
      [1, 3],
      [4, 6],
      [7, 9],
      [10, 12],
    ]);
    await numberAll();
    expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
    expect(await kept()).to.deep.equal(['of 0 days']);
  });
});
