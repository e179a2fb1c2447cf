/** The audit log in its order: numbers without gaps, a hash that covers the one before, and a reader who misses nothing. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import stringify from 'fast-json-stable-stringify';
import {
  type AuditChainer,
  auditOperations,
  createAuditChainer,
  numberNext,
  verifyAuditChain,
  writeAudit,
} from '../../../controller/insight/audit/index.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { createExecute } from '../../../controller/platform/operation/execute.ts';
import { type Bus, createBus } from '../../../controller/platform/runtime/bus.ts';
import { createLease, type Lease } from '../../../controller/platform/runtime/lease.ts';
import { manualClock, systemClock } from '../../../reconcilers/loops/clock.ts';
import type { AuditEvent } from '../../../schemas/api/insight/audit.ts';
import { QUIET, useEachPlatform } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';

const SYSTEM: Actor = { type: 'system', name: 'test' };
const WRITERS = 20;
const EVENTS_OF_EACH = 15;

describe('the audit log', () => {
  const platform = useEachPlatform();
  let ends: (() => unknown)[] = [];
  const execute = createExecute(writeAudit);

  beforeEach(async () => {
    await platform.db('teams').insert({ id: 'team', name: 'Team' });
    await platform.db('environments').insert([
      { id: 'env', team_id: 'team', name: 'env' },
      { id: 'other', team_id: 'team', name: 'other' },
    ]);
  });
  afterEach(async () => {
    for (const end of ends.reverse()) await end();
    ends = [];
  });

  /** One transaction with `count` events. */
  const write = (action: string, { environmentId = 'env', count = 1, holdMs = 0 } = {}) =>
    platform.db.transaction(async (tx) => {
      const ctx = { ...platform.context(SYSTEM), db: tx };
      const entries = Array.from({ length: count }, (_, n) => ({
        entityType: 'Thing',
        entityId: `${action} ${n}`,
        diff: { size: [n, n + 0.5] as [unknown, unknown] },
      }));
      await writeAudit(ctx, { teamId: 'team', environmentId }, entries, action);
      await sleep(holdMs);
    });
  const numberAll = async () => {
    while ((await numberNext(platform.context(SYSTEM), async () => {})) > 0);
  };
  const since = (input: { after?: string; limit?: number; action?: string; environmentId?: string } = {}) =>
    execute(auditOperations.after, platform.context(SYSTEM), { environmentId: 'env', ...input });
  const rows = (): Promise<{ id: string; seq: number | null }[]> =>
    platform.db('audit_log').orderBy('seq').select('id', 'seq');

  async function leader(options: { ttlMs?: number; renewMs?: number } = {}): Promise<Lease> {
    const lease = createLease({ db: platform.db, key: 'leader', log: QUIET, ...options });
    ends.push(() => lease.stop());
    await lease.start();
    return lease;
  }
  async function liveBus(): Promise<Bus> {
    const bus = createBus({ url: platform.url, log: QUIET });
    ends.push(() => bus.stop());
    await bus.start();
    return bus;
  }
  function chainer(lease: Lease, bus: Bus, clock = systemClock): AuditChainer {
    const made = createAuditChainer({
      db: platform.db,
      services: { bus, keyring: platform.keyring },
      lease,
      clock,
      log: QUIET,
    });
    ends.push(() => made.stop());
    made.start();
    return made;
  }

  describe('as a chain', () => {
    it('numbers what is committed from 1 on, in the order in which it was told', async () => {
      await write('first', { count: 3 });
      await write('second');
      await numberAll();
      const { events } = await since();
      expect(events.map(({ seq, entityId }) => `${seq} ${entityId}`)).to.deep.equal([
        '1 first 0',
        '2 first 1',
        '3 first 2',
        '4 second 0',
      ]);
      expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
    });

    it('lets anybody check it from the JSON alone', async () => {
      await write('told', { count: 5 });
      await numberAll();
      const told = JSON.parse(JSON.stringify(await since())).events as AuditEvent[];
      let before = '0'.repeat(64);
      for (const { hash, ...rest } of told) {
        expect(rest.prevHash).to.equal(before);
        expect(createHash('sha256').update(stringify(rest)).digest('hex')).to.equal(hash);
        before = hash;
      }
    });

    it('numbers more than one batch', async () => {
      await write('many', { count: 1_201 });
      await numberAll();
      expect((await rows()).map(({ seq }) => seq)).to.deep.equal(
        Array.from({ length: 1_201 }, (_, n) => n + 1),
      );
      expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
    });

    const SPOILT: [reason: string, sql: string, broken: number][] = [
      ['a changed action', `UPDATE audit_log SET action = 'x' WHERE seq = 3`, 3],
      ['a changed actor', `UPDATE audit_log SET user_email = 'x' WHERE seq = 1`, 1],
      ['a changed time', `UPDATE audit_log SET created_at = created_at - interval '1 hour' WHERE seq = 2`, 2],
      ['a changed difference', `UPDATE audit_log SET diff = '{"size":[0,1]}' WHERE seq = 4`, 4],
      ['a row taken out', 'DELETE FROM audit_log WHERE seq = 3', 3],
      ['the first row taken out', 'DELETE FROM audit_log WHERE seq = 1', 1],
      ['rows taken off the end', 'DELETE FROM audit_log WHERE seq > 4', 5],
      ['all rows taken out', 'DELETE FROM audit_log', 1],
      [
        'a row slipped in at the end',
        `INSERT INTO audit_log (id, seq, prev_hash, hash, actor_type, action, entity_type)
          SELECT 'slipped', 7, hash, repeat('a', 64), 'system', 'x', 'X' FROM audit_log WHERE seq = 6`,
        7,
      ],
      [
        'two rows that changed places',
        'UPDATE audit_log SET seq = -seq WHERE seq IN (2, 3); UPDATE audit_log SET seq = 5 + seq WHERE seq < 0',
        2,
      ],
    ];
    for (const [reason, sql, broken] of SPOILT) {
      it(`names the first broken number after ${reason}`, async () => {
        await write('told', { count: 6 });
        await numberAll();
        await platform.db.raw(sql);
        expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(broken);
      });
    }

    it('goes on after rows were taken off its end without giving their numbers again', async () => {
      await write('told', { count: 6 });
      await numberAll();
      await platform.db.raw('DELETE FROM audit_log WHERE seq > 4');
      await write('later');
      await numberAll();
      expect((await since({ after: '4' })).events.map(({ seq }) => seq)).to.deep.equal([7]);
      expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(5);
    });
  });

  describe('on the leader', () => {
    it('is numbered soon after a commit, by signal', async () => {
      // The clock stands still: no timer comes to help.
      chainer(await leader(), await liveBus(), manualClock());
      await write('told');
      await until(async () => (await rows()).every(({ seq }) => seq === 1), { what: 'a number' });
    });

    it('is numbered by the timer where the signal is lost', async () => {
      const clock = manualClock();
      // A bus that is not started hears nothing.
      chainer(await leader(), createBus({ url: platform.url, log: QUIET }), clock);
      await write('told');
      await until(
        async () => {
          clock.advance(1_000);
          return (await rows()).every(({ seq }) => seq === 1);
        },
        { what: 'a number' },
      );
    });

    it('gives no number while somebody else leads', async () => {
      await leader();
      const second = await leader();
      const bus = await liveBus();
      chainer(second, bus);
      await write('told');
      let heard = false;
      bus.on('wake', () => (heard = true));
      await write('told');
      await until(() => heard, { what: 'the signal' });
      expect((await rows()).map(({ seq }) => seq)).to.deep.equal([null, null]);
    });

    it('takes no number from a leader that was paused', async () => {
      const paused = await leader({ ttlMs: 100, renewMs: 60_000 });
      const next = await leader({ ttlMs: 2_000, renewMs: 20 });
      await until(() => next.epoch() !== null, { what: 'the second to lead' });
      await write('told');
      const late = await numberNext(platform.context(SYSTEM), (tx) => paused.fence(tx, 1)).then(
        () => null,
        (error: unknown) => error,
      );
      expect((late as DomainError).code).to.equal('UNAVAILABLE');
      expect(late).to.be.instanceOf(DomainError);
      expect((await rows()).map(({ seq }) => seq)).to.deep.equal([null]);
      expect(await numberNext(platform.context(SYSTEM), (tx) => next.fence(tx, next.epoch() ?? 0))).to.equal(
        1,
      );
    });
  });

  describe('to a reader', () => {
    it('comes in pages that follow one another, of one environment', async () => {
      await write('a', { count: 3 });
      await write('elsewhere', { environmentId: 'other', count: 2 });
      await write('b', { count: 2 });
      await numberAll();
      const first = await since({ limit: 3 });
      expect(first.events.map(({ seq }) => seq)).to.deep.equal([1, 2, 3]);
      expect(first).to.include({ cursor: '3', hasMore: true });
      const second = await since({ after: first.cursor, limit: 3 });
      expect(second.events.map(({ seq }) => seq)).to.deep.equal([6, 7]);
      expect(second).to.include({ cursor: '7', hasMore: false });
      expect(await since({ after: '7' })).to.deep.equal({ events: [], cursor: '7', hasMore: false });
    });

    it('begins at the beginning, and echoes what it was given where there is nothing', async () => {
      expect(await since()).to.deep.equal({ events: [], cursor: '0', hasMore: false });
      expect((await since({ after: '999999' })).cursor).to.equal('999999');
    });

    it('comes by action where one is asked for', async () => {
      await write('a');
      await write('b', { count: 2 });
      await write('a');
      await numberAll();
      const page = await since({ action: 'a', limit: 1 });
      expect(page).to.include({ cursor: '1', hasMore: true });
      expect((await since({ action: 'a', after: page.cursor })).events.map(({ seq }) => seq)).to.deep.equal([
        4,
      ]);
      expect((await since({ action: 'none', after: '2' })).cursor).to.equal('2');
    });

    it('misses nothing and sees nothing twice while 20 write at once', async function () {
      this.timeout(60_000);
      this.slow(10_000);
      chainer(await leader(), await liveBus());
      let writing = true;
      const seen: AuditEvent[] = [];
      const polling = (async () => {
        let cursor: string | undefined;
        const wanted = WRITERS * EVENTS_OF_EACH;
        while (writing || seen.length < wanted) {
          const page = await since({ after: cursor, limit: 7 });
          seen.push(...page.events);
          cursor = page.cursor;
          if (page.events.length === 0) await sleep(2);
        }
      })();
      await Promise.all(
        Array.from({ length: WRITERS }, async (_, writer) => {
          for (let n = 0; n < EVENTS_OF_EACH; n++)
            await write(`w${writer}`, { holdMs: (writer * 7 + n * 3) % 11 });
        }),
      );
      writing = false;
      await polling;
      expect(seen.map(({ seq }) => seq)).to.deep.equal(seen.map((_, index) => index + 1));
      expect(new Set(seen.map(({ id }) => id)).size).to.equal(WRITERS * EVENTS_OF_EACH);
      for (let writer = 0; writer < WRITERS; writer++)
        expect(seen.filter(({ action }) => action === `w${writer}`)).to.have.length(EVENTS_OF_EACH);
      expect(await verifyAuditChain(platform.db, platform.keyring)).to.equal(null);
    });
  });
});
