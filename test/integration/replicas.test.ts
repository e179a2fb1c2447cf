/** Several `headgate serve` on one data directory: one embedded Postgres, one key, one repository, one leader. */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { send } from '../support/clients/http.ts';
import { ROOT } from '../support/harness/controller.ts';
import { clusterFolder, postmasterPid, postmastersOf } from '../support/harness/embedded-cluster.ts';
import { type Replica, serve, untilUp } from '../support/harness/serve.ts';
import { until } from '../support/harness/until.ts';
import { signIn } from '../support/users/person.ts';

describe('controllers on one data directory', function () {
  this.timeout(90_000);
  this.slow(20_000);
  let dataDir: string;
  let replicas: Replica[];

  beforeEach(() => {
    dataDir = clusterFolder();
    replicas = [];
  });
  afterEach(async () => {
    await Promise.all(replicas.map((one) => one.end('SIGTERM')));
    expect(postmastersOf(dataDir)).to.deep.equal([]);
    await rm(dataDir, { recursive: true, force: true });
  });

  async function start(options: { port?: number } = {}): Promise<Replica> {
    const replica = await serve(dataDir, options);
    replicas.push(replica);
    return replica;
  }
  const teams = async (replica: Replica): Promise<string[]> => {
    const root = await signIn(replica.url, ROOT.email, ROOT.password);
    return (await root.query<{ name: string }[]>('team.list')).map(({ name }) => name);
  };
  const leads = async (replica: Replica) =>
    (await send(`${replica.url}/api/health/ready`)).json<{ checks: { leading?: boolean } }>().checks
      .leading === true;

  it('start in the same instant on an empty one, share it, refuse a third on a port that is taken, and leave one after the other', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    await untilUp(first, second);
    expect(postmastersOf(dataDir)).to.have.length(1);
    const root = await signIn(first.url, ROOT.email, ROOT.password);
    await root.mutate('team.create', { name: 'Shared' });
    expect(await teams(second)).to.deep.equal(['Shared']);
    expect([await leads(first), await leads(second)].filter(Boolean)).to.have.length(1);

    const port = Number(new URL(first.url).port);
    const third = await start({ port });
    expect(await third.end()).to.equal(1);
    expect(third.output()).to.contain(`headgate: port ${port} is taken by another program`);
    expect(await teams(first)).to.deep.equal(['Shared']);
    expect(postmastersOf(dataDir)).to.have.length(1);

    expect(await first.end('SIGTERM')).to.equal(0);
    expect(await teams(second)).to.deep.equal(['Shared']);
    await until(() => leads(second), { what: 'the other to lead', timeoutMs: 10_000, everyMs: 50 });
    expect(await second.end('SIGTERM')).to.equal(0);
    expect(postmastersOf(dataDir)).to.deep.equal([]);
  });

  it('go on when the one that started Postgres is killed, and then Postgres too', async () => {
    const first = await start();
    await untilUp(first);
    const other = await start();
    await untilUp(other);
    await first.end('SIGKILL');
    process.kill(postmasterPid(dataDir), 'SIGKILL');
    await until(() => other.output().includes('PostgreSQL runs again'), {
      what: () => other.output(),
      timeoutMs: 10_000,
    });
    expect(await teams(other)).to.deep.equal([]);
    await until(() => leads(other), { what: 'the other to lead', timeoutMs: 15_000, everyMs: 50 });
  });
});
