/** Signals between parts and replicas: with the commit, not without it, and never silently lost. */
import { expect } from 'chai';
import type { Knex } from 'knex';
import { unlessAway } from '../../../controller/database/errors.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { type Bus, createBus, type NamedBus, type Signal } from '../../../controller/platform/runtime/bus.ts';
import { type ManualClock, manualClock } from '../../../reconcilers/loops/clock.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';
import { recordedLog } from '../../support/harness/recorded-log.ts';
import { until } from '../../support/harness/until.ts';
import { startTcpProxy, type TcpProxy } from '../../support/servers/tcp-proxy.ts';

describe('the bus', () => {
  const platform = usePlatform();
  let here: Bus;
  let there: Bus;
  const heard = { here: [] as Signal[], there: [] as Signal[] };

  before(async () => {
    here = createBus({ url: platform.url, log: QUIET });
    there = createBus({ url: platform.url, log: QUIET });
    for (const [name, bus] of [
      ['here', here],
      ['there', there],
    ] as const) {
      for (const type of ['config', 'node', 'user', 'wake', 'ui', 'resync'] as const) {
        bus.on(type, (signal) => heard[name].push(signal));
      }
      await bus.start();
    }
  });
  beforeEach(() => {
    heard.here.length = 0;
    heard.there.length = 0;
  });
  after(async () => {
    await here?.stop();
    await there?.stop();
  });

  const user = (userId: string) => ({ type: 'user', userId }) as const;
  /** Signals arrive in the order of their commits: when this one is there, whatever came before would be too. */
  const flush = async () => {
    await here.publish(platform.db, user('last'));
    await until(() => heard.there.some((one) => one.type === 'user' && one.userId === 'last'), {
      what: 'the last',
    });
  };

  it('carries a signal to every replica, its own included, as it was', async () => {
    const signal = { type: 'wake', loop: 'git', key: 'env', trigger: 'push “ü”' } as const;
    await here.publish(platform.db, signal);
    await until(() => heard.here.length > 0 && heard.there.length > 0, { what: 'both to hear' });
    expect(heard.here).to.deep.equal([signal]);
    expect(heard.there).to.deep.equal([signal]);
  });

  it('sends what a transaction published when it commits, and not before', async () => {
    await platform.db.transaction(async (tx) => {
      await here.publish(tx, user('inside'));
      await flush();
      expect(heard.there).to.deep.equal([user('last')]);
    });
    await until(() => heard.there.length === 2, { what: 'the commit’s signal' });
    expect(heard.there[1]).to.deep.equal(user('inside'));
  });

  it('sends nothing of a transaction that is rolled back', async () => {
    const failed = platform.db.transaction(async (tx) => {
      await here.publish(tx, user('never'));
      throw new Error('rolled back');
    });
    await failed.catch(() => {});
    await flush();
    expect(heard.there).to.deep.equal([user('last')]);
  });

  it('takes effect here at once, by a bus that hears nothing of the database too, and once', async () => {
    const deaf = createBus({ url: platform.url, log: QUIET });
    const own: Signal[] = [];
    deaf.on('user', (signal) => own.push(signal));
    await deaf.publish(platform.db, user('direct'));
    expect(own).to.deep.equal([user('direct')]);
    await here.publish(platform.db, user('own'));
    expect(heard.here.filter((one) => one.type === 'user' && one.userId === 'own')).to.have.length(1);
    await there.publish(platform.db, user('last'));
    await until(() => heard.here.some((one) => one.type === 'user' && one.userId === 'last'), {
      what: 'the signal of another, behind the echo of the own one',
    });
    expect(heard.here.filter((one) => one.type === 'user' && one.userId === 'own')).to.have.length(1);
  });

  it('takes effect here with the commit of the transaction, each signal once', async () => {
    await platform.db.transaction(async (tx) => {
      await here.publish(tx, user('twice'));
      await tx.transaction(async (inner) => {
        await here.publish(inner, user('inner'));
        await here.publish(inner, user('inner'));
      });
      await here.publish(tx, user('twice'));
      expect(heard.here).to.deep.equal([]);
    });
    expect(heard.here.map((one) => (one as { userId: string }).userId).sort()).to.deep.equal([
      'inner',
      'twice',
    ]);
  });

  it('has no effect here where the database itself refused, to a savepoint or as a whole', async () => {
    const REFUSALS = [
      {
        reason: 'a statement that took too long',
        sql: 'SET LOCAL statement_timeout = 1; SELECT pg_sleep(60)',
      },
      {
        reason: 'what it belongs to was deleted',
        sql: `INSERT INTO environments (id, team_id, name) VALUES ('lost', 'nobody', 'lost')`,
      },
      { reason: 'a full disk', sql: "DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END $$" },
    ];
    for (const { reason, sql } of REFUSALS) {
      const refused = async (tx: Knex.Transaction) => {
        await here.publish(tx, user(reason));
        await tx.raw(sql);
      };
      let thrown: unknown;
      await platform.db.transaction(refused).catch((error) => {
        thrown = error;
      });
      expect(unlessAway(thrown), reason).to.be.instanceOf(DomainError);
      await platform.db.transaction((tx) => tx.transaction(refused).catch(() => {}));
    }
    await flush();
    expect(heard.here).to.deep.equal([user('last')]);
  });

  it('has no effect here after a rollback, also one to a savepoint', async () => {
    const fail = async (tx: Parameters<Bus['publish']>[0], userId: string) => {
      await here.publish(tx, user(userId));
      throw new Error('rolled back');
    };
    await platform.db.transaction((tx) => fail(tx, 'whole')).catch(() => {});
    await platform.db.transaction(async (tx) => {
      await here.publish(tx, user('outer'));
      await tx.transaction((inner) => fail(inner, 'inner')).catch(() => {});
    });
    await flush();
    expect(heard.here).to.deep.equal([user('outer'), user('last')]);
    expect(heard.there).to.deep.equal([user('outer'), user('last')]);
  });

  it('leaves to the others alone what was applied here', async () => {
    const node = (nodeId: string) => ({ type: 'node', nodeId, environmentId: 'e' }) as const;
    const ui = { type: 'ui', environmentId: 'e', topics: ['fleet'] } as const;
    const signals = [node('a'), { ...ui, topics: [...ui.topics] }];
    await here.publish(platform.db, signals, { appliedHere: ['node'] });
    expect(heard.here).to.deep.equal([signals[1]]);
    await until(() => heard.there.length === 2, { what: 'the others to hear both' });
    expect(heard.there).to.deep.equal(signals);
  });

  it('carries thousands of signals in one statement', async () => {
    const signals = Array.from({ length: 3_000 }, (_, n) => user(`${'ü'.repeat(20)} ${n}`));
    const statements: string[] = [];
    const note = ({ sql }: { sql: string }) => statements.push(sql);
    platform.db.on('query', note);
    await here.publish(platform.db, signals);
    platform.db.removeListener('query', note);
    expect(statements).to.have.length(1);
    await until(() => heard.there.length === signals.length, { what: 'all signals' });
    expect(heard.there).to.deep.equal(signals);
  });

  it('goes on when one of its listeners throws', async () => {
    const off = there.on('user', () => {
      throw new Error('a bad listener');
    });
    await flush();
    off();
    expect(heard.there).to.deep.equal([user('last')]);
  });

  it('does not call a listener that was taken away', async () => {
    let calls = 0;
    const off = there.on('user', () => (calls += 1));
    off();
    await flush();
    expect(calls).to.equal(0);
  });

  it('passes over what is not a signal', async () => {
    for (const payload of [
      '',
      'not json',
      'null',
      '7',
      '{"type": 7}',
      '{"type": "list"}',
      '{"type": "list", "signals": [null, 7]}',
    ]) {
      await platform.db.raw('SELECT pg_notify(?, ?)', ['headgate', payload]);
    }
    await flush();
    expect(heard.there).to.deep.equal([user('last')]);
  });

  const cut = () =>
    platform.db.raw(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headgate-bus' AND datname = current_database()",
    );

  it('connects again after its connection was ended, says resync, and hears on', async () => {
    await cut();
    await until(() => heard.here.length > 0 && heard.there.length > 0, { what: 'resync on both' });
    expect(heard.here).to.deep.equal([{ type: 'resync' }]);
    expect(heard.there).to.deep.equal([{ type: 'resync' }]);
    await flush();
  });

  it('stays ended when it is stopped while it connects', async () => {
    const connections = async () =>
      (
        await platform.db.raw(
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'headgate-bus' AND datname = current_database()",
        )
      ).rows[0].count as number;
    const brief = createBus({ url: platform.url, log: QUIET });
    const starting = brief.start();
    await brief.stop();
    await starting;
    await until(async () => (await connections()) === 2, { what: 'only the other two to be left' });
  });

  it('hears every signal once after a server that hung up on it while it connected', async () => {
    const proxy = await startTcpProxy(platform.url);
    const { log, text } = recordedLog('warn');
    const bus = createBus({ url: proxy.url, log });
    const signals: Signal[] = [];
    bus.on('wake', (signal) => signals.push(signal));
    bus.on('resync', (signal) => signals.push(signal));
    try {
      await bus.start();
      proxy.refuse(2);
      proxy.cut();
      await until(() => signals.length === 1, { what: 'resync', timeoutMs: 10_000 });
      const once = { type: 'wake', loop: 'git', key: 'env', trigger: 'once' } as const;
      await here.publish(platform.db, once);
      await until(() => signals.length > 1, { what: 'the signal' });
      expect(signals).to.deep.equal([{ type: 'resync' }, once]);
      expect(proxy.count()).to.equal(1);
      // What is told twice is also tried twice, and ends in two connections.
      expect(text().match(/reconnecting/g)).to.have.length(1);
    } finally {
      await bus.stop();
      await proxy.close();
    }
  });

  describe('over a connection that hangs', () => {
    const times = { everyMs: 10_000, deadlineMs: 5_000 };
    let proxy: TcpProxy;
    let clock: ManualClock;
    let bus: NamedBus;
    let signals: Signal[];

    beforeEach(async () => {
      proxy = await startTcpProxy(platform.url);
      clock = manualClock();
      bus = createBus({ url: proxy.url, log: QUIET, clock, probe: times });
      signals = [];
      for (const type of ['user', 'wake', 'resync'] as const) bus.on(type, (signal) => signals.push(signal));
      await bus.start();
    });
    afterEach(async () => {
      proxy.heal();
      await bus.stop();
      await proxy.close();
    });

    it('says that it hears nothing once an answer is overdue, connects again, and says resync', async () => {
      proxy.hang();
      clock.advance(times.everyMs);
      expect(bus.connected()).to.equal(true);
      clock.advance(times.deadlineMs - 1);
      expect(bus.connected()).to.equal(true);
      clock.advance(1);
      await until(() => !bus.connected(), { what: 'it to be known' });
      expect(signals).to.deep.equal([]);
      proxy.heal();
      await until(() => bus.connected() && signals.length > 0, { what: 'resync', timeoutMs: 20_000 });
      expect(signals).to.deep.equal([{ type: 'resync' }]);
      expect(proxy.count(), 'the one that hung is gone').to.equal(1);
    });

    it('is asked again and again while it answers', async () => {
      for (let round = 1; round <= 3; round += 1) {
        const before = proxy.received();
        clock.advance(times.everyMs);
        await until(() => proxy.received() > before, { what: `answer ${round}` });
        // What is heard after it was answered after it.
        await here.publish(platform.db, { type: 'wake', loop: 'git', key: 'env', trigger: `${round}` });
        await until(() => signals.length === round, { what: `signal ${round}` });
      }
      clock.advance(times.deadlineMs);
      expect(bus.connected()).to.equal(true);
    });

    it('hears at the commit what it says itself, and once', async () => {
      proxy.hang();
      await bus.publish(platform.db, user('at once'));
      await platform.db.transaction(async (tx) => {
        await tx.transaction((savepoint) => bus.publish(savepoint, user('with the commit')));
        expect(signals).to.deep.equal([user('at once')]);
      });
      await platform.db
        .transaction(async (tx) => {
          await bus.publish(tx, user('never'));
          throw new Error('rolled back');
        })
        .catch(() => {});
      expect(signals).to.deep.equal([user('at once'), user('with the commit')]);
      proxy.heal();
      const last = { type: 'wake', loop: 'git', key: 'env', trigger: 'last' } as const;
      await here.publish(platform.db, last);
      await until(() => signals.length > 2, { what: 'what was held up' });
      expect(signals.slice(2)).to.deep.equal([last]);
    });
  });
});
