/** The key of the audit chain: who can write to the database and computes the chain again is found out all the same. */
import { expect } from 'chai';
import { chainAfter, GENESIS, hashEvent } from '../../../controller/insight/audit/chain/chain.ts';
import {
  logAuditHead,
  numberNext,
  pruneAuditLog,
  verifyAuditChain,
  verifyAuditLog,
  writeAudit,
} from '../../../controller/insight/audit/index.ts';
import { readChain, readUnnumbered } from '../../../controller/insight/audit/store.ts';
import { resealAll } from '../../../controller/platform/crypto/key-rotation.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import { createLogger, LOG_LEVELS, type LogLevel } from '../../../controller/platform/runtime/logger.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { useEachPlatform } from '../../support/harness/platform.ts';

const SYSTEM: Actor = { type: 'system', name: 'test' };
const DAY_MS = 86_400_000;

describe('the key of the audit log', () => {
  const platform = useEachPlatform();

  async function write(count: number): Promise<void> {
    const entries = Array.from({ length: count }, (_, n) => ({ entityType: 'Thing', entityId: String(n) }));
    await writeAudit(platform.context(SYSTEM), { teamId: null }, entries, 'thing.changed');
  }
  const number = () => numberNext(platform.context(SYSTEM), async () => {});
  const verdict = () => verifyAuditLog(platform.db, platform.keyring);
  const broken = () => verifyAuditChain(platform.db, platform.keyring);

  /** As a controller of the version before the key numbered: by plain hashes. */
  async function numberWithoutKey(): Promise<void> {
    const last = (await readChain(platform.db, 0, 1_000)).at(-1)?.event ?? GENESIS;
    for (const { id, seq, prevHash, hash } of chainAfter(last, await readUnnumbered(platform.db, 1_000))) {
      await platform.db('audit_log').where({ id }).update({ seq, prev_hash: prevHash, hash });
      const head = { key: 'auditHead', value: JSON.stringify({ seq, hash }) };
      await platform.db('settings').insert(head).onConflict('key').merge();
    }
  }

  /** What somebody does who has the database and no key: changes an event, and computes all hashes after it again. */
  async function rewrite(from: number, mac: 'keep' | 'drop'): Promise<void> {
    const chain = (await readChain(platform.db, 0, 1_000)).map(({ event }) => event);
    let before = chain[from - 2]?.hash ?? GENESIS.hash;
    for (const { hash: _, ...event } of chain.slice(from - 1)) {
      const forged = { ...event, prevHash: before, ...(event.seq === from ? { entityId: 'forged' } : {}) };
      before = hashEvent(forged);
      await platform
        .db('audit_log')
        .where({ seq: event.seq })
        .update({
          ...{ entity_id: forged.entityId, prev_hash: forged.prevHash, hash: before },
          ...(mac === 'drop' ? { mac: null } : {}),
        });
    }
    await platform
      .db('settings')
      .where({ key: 'auditHead' })
      .update({ value: JSON.stringify({ seq: chain.length, hash: before }) });
  }

  for (const mac of ['keep', 'drop'] as const) {
    it(`finds an event that was changed with all hashes after it; the codes: ${mac}`, async () => {
      await write(6);
      await number();
      expect(await verdict()).to.include({ broken: null, keyedFrom: 1 });
      await rewrite(3, mac);
      expect(await broken()).to.equal(3);
    });
  }

  describe('of a log that had none', () => {
    beforeEach(async () => {
      await write(3);
      await numberWithoutKey();
    });

    it('leaves the events before it verifiable, and tells in the log from where on it counts', async () => {
      expect(await verdict()).to.include({ broken: null, keyedFrom: null });
      await write(2);
      await number();
      await number();
      expect(await verdict()).to.include({ broken: null, keyedFrom: 4, events: 6 });
      const { seq, metadata } = await platform.db('audit_log').where({ action: 'audit.keyed' }).first();
      const { hash } = await platform.db('audit_log').where({ seq: 3 }).first('hash');
      expect([seq, metadata]).to.deep.equal([6, { after: 3, hash }]);
    });

    it('leaves its log whole where the first key and the retention come at the same moment', async () => {
      await platform.db('settings').insert({ key: 'audit', value: JSON.stringify({ retentionDays: 30 }) });
      const clock = manualClock(Date.now() + 40 * DAY_MS);
      await write(1);
      let numbering: Promise<unknown> | undefined;
      const fence = async () => {
        numbering = number().then(
          () => 'numbered',
          (error: Error) => error.message,
        );
        await Promise.race([numbering, untilWaiting(platform.db)]);
      };
      await pruneAuditLog({ ...platform.context(SYSTEM), clock, fence }, 100);
      expect(await numbering, 'who comes second tries again').to.include('audit_keys_pkey');
      await number();
      expect(await verdict()).to.include({ broken: null, from: 4, keyedFrom: 4 });
      await pruneAuditLog({ ...platform.context(SYSTEM), clock }, 100);
      expect(await broken()).to.equal(null);
    });

    for (const from of [1, 3, 4]) {
      it(`proves those before, too: event ${from} and the hashes after it`, async () => {
        await write(2);
        await number();
        await rewrite(from, 'drop');
        expect(await broken()).to.equal(Math.max(from, 3));
      });
    }

    it('takes no number any more from a controller that does not know the key', async () => {
      await write(1);
      await number();
      await write(1);
      const refused = await numberWithoutKey().then(
        () => '',
        (error: Error) => error.message,
      );
      expect(refused).to.include('the audit log has a key, which this controller does not know');
    });
  });

  it('is missed where somebody takes it away: nothing is verified, and no other takes its place', async () => {
    await write(3);
    await number();
    await platform.db('audit_keys').delete();
    expect(await broken()).to.equal(1);
    await write(1);
    const refused = await number().then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refused).to.match(/^The key of the audit log is gone/);
    expect(await platform.db('audit_keys')).to.deep.equal([]);
  });

  it('is of no use when it was changed or put in by somebody without the secret key', async () => {
    await write(3);
    await number();
    const forged = createKeyring('somebody else’s key of 32 characters').seal(
      JSON.stringify({ key: 'AAAA', after: { seq: 3, hash: 'x' }, anchor: GENESIS }),
      'audit_keys:chain',
    );
    await platform.db('audit_keys').update({ sealed_key: forged });
    const refused = await broken().then(
      () => '',
      (error: Error) => error.name,
    );
    expect(refused).to.equal('KeyringError');
  });

  it('goes on through a change of the secret key, and after the earlier one is lost', async () => {
    await write(2);
    await number();
    const [OLD, NEW] = ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210'];
    await resealAll(platform.db, createKeyring([NEW, OLD]));
    expect(await verifyAuditChain(platform.db, createKeyring(NEW))).to.equal(null);
    const context = platform.context(SYSTEM);
    await write(1);
    await numberNext(
      { ...context, services: { ...context.services, keyring: createKeyring(NEW) } },
      async () => {},
    );
    expect(await verifyAuditChain(platform.db, createKeyring(NEW))).to.equal(null);
  });

  it('proves where the log begins after its retention, also where a deletion was made up in it', async () => {
    await write(4);
    await number();
    await platform.db('settings').insert({ key: 'audit', value: JSON.stringify({ retentionDays: 30 }) });
    const clock = manualClock(Date.now() + 40 * DAY_MS);
    await pruneAuditLog({ ...platform.context(SYSTEM), clock }, 2);
    await write(4);
    await number();
    expect(await verdict()).to.include({ broken: null, from: 5 });
    const { hash } = await platform.db('audit_log').where({ seq: 6 }).first('hash');
    await platform.db('audit_log').where('seq', '<=', 6).delete();
    await platform
      .db('settings')
      .where({ key: 'auditAnchor' })
      .update({ value: JSON.stringify({ seq: 6, hash }) });
    // A row that waits for its number gets one, whoever has written it.
    const entry = { entityType: 'AuditLog', entityId: null, metadata: { through: 6, hash } };
    await writeAudit(platform.context(SYSTEM), { teamId: null }, [entry], 'audit.pruned');
    await number();
    expect(await broken()).to.equal(6);
    expect(await pruneAuditLog({ ...platform.context(SYSTEM), clock })).to.deep.equal({
      deleted: 0,
      broken: 6,
    });
  });

  /** What a controller writes every hour to its log of that level. */
  async function headLine(level: LogLevel): Promise<string> {
    let log = '';
    const stream = {
      write(line: string) {
        log += line;
      },
    };
    await logAuditHead({ ...platform.context(SYSTEM), log: createLogger(level, stream as never) });
    return log;
  }

  for (const level of LOG_LEVELS) {
    it(`is told of with the head in a log of the level ${level}`, async () => {
      expect(await headLine(level), 'of an empty log').to.equal('');
      await write(3);
      await number();
      const { hash } = await platform.db('audit_log').where({ seq: 3 }).first('hash');
      const line = await headLine(level);
      if (level === 'silent') expect(line).to.equal('');
      else expect(JSON.parse(line)).to.include({ ...{ level: 'info', seq: 3, hash }, keyedFrom: 1 });
    });
  }

  it('is missed by who has noted where it begins, where somebody made a log without it', async () => {
    await write(3);
    await number();
    await platform.db('audit_keys').delete();
    await rewrite(2, 'drop');
    await platform.db('audit_log').update({ mac: null });
    expect(await verdict(), 'nothing in the database tells').to.include({ broken: null, keyedFrom: null });
    await write(1);
    await number();
    expect(await verdict(), 'who noted 1 finds it').to.include({ broken: null, keyedFrom: 4 });
  });

  it('does not help against a log that was put back to an earlier state, but its head in the log does', async () => {
    await write(3);
    await number();
    const { seq, hash, msg } = JSON.parse(await headLine('info'));
    expect([seq, msg]).to.deep.equal([3, 'audit log head']);
    const head = { seq, hash };
    expect((await verifyAuditLog(platform.db, platform.keyring, head)).broken).to.equal(null);
    await platform.db('audit_log').where({ seq: 3 }).delete();
    const { hash: earlier } = await platform.db('audit_log').where({ seq: 2 }).first('hash');
    await platform
      .db('settings')
      .where({ key: 'auditHead' })
      .update({ value: JSON.stringify({ seq: 2, hash: earlier }) });
    expect(await broken(), 'nothing in the database tells').to.equal(null);
    const found = await verifyAuditLog(platform.db, platform.keyring, head);
    expect(found.broken).to.deep.equal({ seq: 3, event: null });
    await write(1);
    await number();
    expect((await verifyAuditLog(platform.db, platform.keyring, head)).broken?.seq).to.equal(3);
  });
});
