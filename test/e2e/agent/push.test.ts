import { expect } from 'chai';
import { PushChannel } from '../../../agent/link/push.ts';
import type { KnownPushMessage } from '../../../agent/link/push-message.ts';
import { createLogger } from '../../../agent/log.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { until } from '../../support/harness/until.ts';
import { type ScriptedServer, startServer } from './scripted-server.ts';

describe('the push channel', function () {
  this.timeout(20_000);
  let server: ScriptedServer;
  let channel: PushChannel;
  let messages: KnownPushMessage[];
  const clock = manualClock();

  beforeEach(async () => {
    server = await startServer();
    messages = [];
    channel = new PushChannel({
      fallbackUrl: `${server.url}/api/agent/push`,
      token: server.token,
      clock,
      log: createLogger('error'),
      onMessage: (message) => messages.push(message),
      onReconnect: () => messages.push({ type: 'config_changed', reason: 'reconnected' }),
      // No shortening of delays, so that the test knows them.
      random: () => 1,
    });
  });
  afterEach(async () => {
    channel.stop();
    await server.close();
  });

  const connected = (wanted = true) =>
    until(() => channel.connected === wanted, { what: `connected is ${wanted}` });
  /** Moves the clock on until the channel tries again; answers how long that was. */
  const untilRetry = async (tries: () => number): Promise<number> => {
    const before = tries();
    let waited = 0;
    await until(
      () => {
        if (tries() > before) return true;
        clock.advance(250);
        waited += 250;
        return false;
      },
      { what: 'the channel tries again' },
    );
    return waited;
  };

  it('brings messages, ignores what it does not know, and asks again after a drop', async () => {
    channel.start();
    await connected();
    server.push({ type: 'unheard_of' });
    server.push({ type: 'config_changed', reason: 'deploy' });
    await until(() => messages.length === 1, { what: 'the message has come' });
    for (const stream of server.pushStreams) stream.destroy();
    await connected(false);
    await untilRetry(() => channel.reconnects);
    await connected();
    expect(messages.at(-1)).to.deep.equal({ type: 'config_changed', reason: 'reconnected' });
    expect(channel.reconnects).to.equal(1);
  });

  it('waits longer after each failure, up to 30 s', async () => {
    let tries = 0;
    server.override.push = (_, response) => {
      tries += 1;
      response.writeHead(503).end();
    };
    channel.start();
    await until(() => tries === 1, { what: 'the first try' });
    const waits: number[] = [];
    for (let count = 0; count < 7; count += 1) waits.push(await untilRetry(() => channel.reconnects));
    // The clock runs ahead in steps while a request is under way: each wait is at least its delay.
    [1, 2, 4, 8, 16, 30, 30].forEach((seconds, index) => {
      expect(waits[index]).to.be.at.least(seconds * 1_000 - 250);
    });
  });

  it('changes to its own address after three short-lived connections', async () => {
    const other = await startServer();
    let refused = 0;
    other.override.push = (_, response) => {
      refused += 1;
      response.destroy();
    };
    channel.setPrimaryUrl(`${other.url}/api/agent/push`);
    channel.start();
    await until(
      () => {
        clock.advance(500);
        return channel.connected;
      },
      { what: 'it is connected to its own address' },
    );
    expect(refused).to.equal(3);
    expect(server.pushStreams).to.have.length(1);
    await other.close();
  });

  it('takes a connection that is silent for 75 s as dead, and one with comments as alive', async () => {
    channel.start();
    await connected();
    for (let count = 0; count < 4; count += 1) {
      clock.advance(50_000);
      const [stream] = server.pushStreams;
      stream?.write(': still here\n\n');
      server.push({ type: 'config_changed', reason: `mark ${count}` });
      await until(() => messages.length > count, { what: 'the bytes have come' });
    }
    expect(channel.reconnects).to.equal(0);
    clock.advance(76_000);
    await connected(false);
  });

  it('breaks on a message over the limit and connects again', async () => {
    channel.start();
    await connected();
    server.push({ type: 'config_changed', reason: 'x'.repeat(300_000) });
    await connected(false);
    await untilRetry(() => channel.reconnects);
    await connected();
    expect(messages.map((message) => message.type === 'config_changed' && message.reason)).to.deep.equal([
      'reconnected',
    ]);
  });

  it('never sends the node token from https to http', () => {
    const warnings: string[] = [];
    const secure = new PushChannel({
      fallbackUrl: 'https://c.example/api/agent/push',
      token: 't',
      clock,
      log: createLogger('warn', (line) => warnings.push(line)),
      onMessage: () => {},
      onReconnect: () => {},
    });
    for (const url of ['http://c.example/push', 'file:///etc/passwd', 'no url']) secure.setPrimaryUrl(url);
    expect(warnings).to.have.length(3);
  });
});
