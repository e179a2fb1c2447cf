/** Signals between parts and replicas: with the commit, not without it, and never silently lost. */
import { connect, createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { type Bus, createBus, type Signal } from '../../../controller/platform/bus.ts';
import { createLogger } from '../../../controller/platform/logger.ts';
import { QUIET, startTestPlatform, type TestPlatform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';

describe('the bus', () => {
  let platform: TestPlatform;
  let here: Bus;
  let there: Bus;
  const heard = { here: [] as Signal[], there: [] as Signal[] };

  before(async () => {
    platform = await startTestPlatform();
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
    await platform?.stop();
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
    for (const payload of ['', 'not json', 'null', '7', '{"type": 7}']) {
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
    const target = new URL(platform.url);
    const through = new Set<Socket>();
    let refusing = 0;
    const proxy = createServer((socket) => {
      socket.on('error', () => {});
      if (refusing > 0) {
        refusing -= 1;
        socket.once('data', () => socket.end());
        return;
      }
      const server = connect(Number(target.port), target.hostname);
      server.on('error', () => {});
      through.add(socket);
      socket.on('close', () => {
        through.delete(socket);
        server.destroy();
      });
      server.on('close', () => socket.destroy());
      socket.pipe(server).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const address = proxy.address();
    const url = new URL(platform.url);
    url.port = String(typeof address === 'object' && address ? address.port : 0);
    let log = '';
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        log += chunk.toString('utf8');
        done();
      },
    });
    const bus = createBus({ url: url.href, log: createLogger('warn', sink) });
    const signals: Signal[] = [];
    bus.on('user', (signal) => signals.push(signal));
    bus.on('resync', (signal) => signals.push(signal));
    try {
      await bus.start();
      refusing = 2;
      for (const socket of through) socket.destroy();
      await until(() => signals.length === 1, { what: 'resync', timeoutMs: 10_000 });
      await bus.publish(platform.db, user('once'));
      await until(() => signals.length > 1, { what: 'the signal' });
      expect(signals).to.deep.equal([{ type: 'resync' }, user('once')]);
      expect(through.size).to.equal(1);
      // What is told twice is also tried twice, and ends in two connections.
      expect(log.match(/reconnecting/g)).to.have.length(1);
    } finally {
      await bus.stop();
      for (const socket of through) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    }
  });
});
