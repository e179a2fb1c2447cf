/** Several `headgate serve` on one data directory: one embedded Postgres, one key, one repository, one leader. */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { send } from '../support/clients/http.ts';
import { ROOT } from '../support/harness/controller.ts';
import {
  clusterFolder,
  postmasterPid,
  postmastersOf,
  processesBelow,
} from '../support/harness/embedded-cluster.ts';
import { type Replica, serve, untilUp } from '../support/harness/serve.ts';
import { until } from '../support/harness/until.ts';
import { signIn } from '../support/users/person.ts';

describe('controllers on one data directory', function () {
  this.timeout(90_000);
  this.slow(20_000);
  const dataDir = clusterFolder();
  const replicas: Replica[] = [];
  let running: Replica[];

  after(async () => {
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
  const leading = async () => (await Promise.all(running.map(leads))).filter(Boolean).length;
  const untilOneLeads = () =>
    until(async () => (await leading()) === 1, { what: 'one to lead', timeoutMs: 15_000, everyMs: 50 });

  it('start in the same instant on an empty one, and share it', async () => {
    running = await Promise.all([start(), start()]);
    await untilUp(...running);
    expect(postmastersOf(dataDir)).to.have.length(1);
    const [first, second] = running as [Replica, Replica];
    const root = await signIn(first.url, ROOT.email, ROOT.password);
    await root.mutate('team.create', { name: 'Shared' });
    expect(await teams(second)).to.deep.equal(['Shared']);
    expect(await leading()).to.equal(1);
  });

  it('say which port is taken where two want the same, and leave the first alone', async () => {
    const [first] = running as [Replica];
    const port = Number(new URL(first.url).port);
    const another = await start({ port });
    expect(await another.end()).to.equal(1);
    expect(another.output()).to.contain(`headgate: port ${port} is taken by another program`);
    expect(await teams(first)).to.deep.equal(['Shared']);
    expect(postmastersOf(dataDir)).to.have.length(1);
  });

  it('go on when the one that started Postgres is killed, and then Postgres too', async () => {
    running.push(await start());
    await untilUp(...running);
    const starter = running.find(({ pid }) => processesBelow(pid).includes(postmasterPid(dataDir)));
    if (!starter) throw new Error('none has started Postgres');
    running = running.filter((one) => one !== starter);
    await starter.end('SIGKILL');
    process.kill(postmasterPid(dataDir), 'SIGKILL');
    const told = (text: string) => running.filter((one) => one.output().includes(text)).length;
    await until(() => told('PostgreSQL runs again') + told('another controller has started') === 2, {
      what: () => running.map((one) => one.output()).join('\n---\n'),
      timeoutMs: 10_000,
    });
    expect(told('PostgreSQL runs again')).to.equal(1);
    for (const one of running) expect(await teams(one)).to.deep.equal(['Shared']);
    await untilOneLeads();
  });

  it('leave one after the other: the one that is left leads, and the last one stops Postgres', async () => {
    const [first, second] = running as [Replica, Replica];
    expect(await first.end('SIGTERM')).to.equal(0);
    running = [second];
    expect(await teams(second)).to.deep.equal(['Shared']);
    await untilOneLeads();
    expect(await second.end('SIGTERM')).to.equal(0);
    expect(postmastersOf(dataDir)).to.deep.equal([]);
  });
});
