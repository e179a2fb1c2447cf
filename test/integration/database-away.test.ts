/** A controller whose embedded Postgres dies, hangs, and comes back: it says so meanwhile, and then all goes on. */
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { expect } from 'chai';
import { type Controller, startController } from '../../controller/main.ts';
import { NO_PROXIES } from '../../controller/platform/net/proxies.ts';
import type { Signal } from '../../controller/platform/runtime/bus.ts';
import { enrollNode, heartbeat, type TestNode } from '../support/agents/agent-client.ts';
import { type HttpResponse, send } from '../support/clients/http.ts';
import { ROOT } from '../support/harness/controller.ts';
import {
  clusterFolder,
  clusterSeed,
  postmasterPid,
  postmastersOf,
  processesBelow,
} from '../support/harness/embedded-cluster.ts';
import { logInto } from '../support/harness/recorded-log.ts';
import { until } from '../support/harness/until.ts';
import { enrollmentToken } from '../support/scenes/places.ts';
import { testEnvironment } from '../support/scenes/two-teams.ts';
import { signIn, type TestUser } from '../support/users/person.ts';

/** A whole controller with an embedded Postgres of its own. */
function startOn(dataDir: string, logged: (text: string) => void): Promise<Controller> {
  return startController(
    {
      host: '127.0.0.1',
      port: 0,
      baseUrl: 'http://127.0.0.1:0',
      dataDir,
      databaseUrl: null,
      secretKey: null,
      previousSecretKeys: [],
      execSecretCommands: [],
      execSecretRequests: new Map(),
      adminEmail: ROOT.email,
      adminPassword: ROOT.password,
      logLevel: 'info',
      trustedProxies: [],
      outgoingProxies: NO_PROXIES,
      privateTargets: [],
      oidcFile: null,
      engineBin: null,
      enrollPerMinute: 1_000,
      pushWaitSeconds: 3,
      agentReleases: '/nonexistent',
      metricsToken: null,
      metricsPort: null,
      metricsStore: null,
      smtp: null,
    },
    { log: logInto('info', logged) },
  );
}

describe('a controller whose database goes away', function () {
  this.timeout(60_000);
  this.slow(10_000);
  let dataDir: string;
  let controller: Controller;
  let url: string;
  let root: TestUser;
  let node: TestNode;
  let log = '';
  const signals: Signal[] = [];
  let beats = 0;

  before(async () => {
    dataDir = clusterFolder();
    const seed = await clusterSeed();
    seed.copyTo(dataDir);
    await seed.remove();
    controller = await startOn(dataDir, (text) => {
      log += text;
    });
    url = `http://127.0.0.1:${controller.port}`;
    root = await signIn(url, ROOT.email, ROOT.password);
    const { environmentId } = await testEnvironment(root);
    const token = await enrollmentToken(root, environmentId);
    node = await enrollNode(url, token);
    expect((await beat()).status).to.equal(200);
    controller.systemContext('test').services.bus.on('user', (signal) => signals.push(signal));
  });
  after(async () => {
    await controller?.stop();
    expect(postmastersOf(dataDir)).to.deep.equal([]);
    await rm(dataDir, { recursive: true, force: true });
  });

  /** The engine's version tells one heartbeat from another. */
  const beat = (): Promise<HttpResponse> => node.heartbeat(heartbeat({ engineVersion: `beat ${++beats}` }));
  const health = async () => (await send(`${url}/api/health`)).status;
  const ready = async () =>
    (await send(`${url}/api/health/ready`)).json<{ checks: { database: boolean; leading?: boolean } }>()
      .checks;
  async function untilStored(sent: number): Promise<void> {
    const { db } = controller.systemContext('test');
    const stored = async () => JSON.stringify(await db('node_reports').where({ node_id: node.nodeId }));
    await until(async () => (await stored()).includes(`"beat ${sent}"`), {
      what: 'the heartbeat to be stored',
      everyMs: 50,
    });
  }

  /** A heartbeat may invalidate what is known of its node; once it is stored, the next one brings that back to memory. */
  async function untilRemembered(): Promise<void> {
    expect((await beat()).status).to.equal(200);
    await untilStored(beats);
    expect((await beat()).status).to.equal(200);
    await untilStored(beats);
  }

  /** Everything that a running controller does, done once. */
  async function allGoesOn(): Promise<void> {
    await until(async () => (await health()) === 200, { what: () => `health:\n${log}`, timeoutMs: 15_000 });
    const name = `Team ${performance.now()}`;
    const { id } = await root.mutate<{ id: string }>('team.create', { name });
    expect(id).to.be.a('string');
    await until(async () => (await ready()).leading === true, { what: 'the lease', timeoutMs: 10_000 });

    const { db, services } = controller.systemContext('test');
    await until(
      async () => {
        await services.bus.publish(db, { type: 'user', userId: name });
        return signals.some((signal) => signal.type === 'user' && signal.userId === name);
      },
      { what: 'a signal to arrive', timeoutMs: 10_000, everyMs: 50 },
    );
    await services.jobs.add(db, 'purge-tombstone', {
      table: 'pipelines',
      id: '00000000-0000-4000-8000-000000000000',
    });
    const jobs = async () => Number((await db('graphile_worker.jobs').count('*'))[0]?.count);
    await until(async () => (await jobs()) === 0, { what: () => `the job:\n${log}`, timeoutMs: 15_000 });
  }

  async function refuses(): Promise<void> {
    const answers = {
      mutation: await root.call('mutation', 'team.create', { name: 'Vain' }),
      query: await root.call('query', 'team.list'),
    };
    for (const [what, { status, fault }] of Object.entries(answers)) {
      expect(status, what).to.equal(503);
      expect(fault?.data.code, what).to.match(/UNAVAILABLE/);
      expect(fault?.message, what).to.match(/^The database does not answer at the moment/);
    }
    const signInAnswer = await send(`${url}/api/auth/sign-in`, { body: ROOT });
    expect(signInAnswer.status).to.equal(503);
    expect(signInAnswer.headers['retry-after']).to.equal('2');
    expect(await health()).to.equal(503);
  }

  it('answers 503 while Postgres cannot be started, keeps heartbeats, and goes on when it is back', async () => {
    const pid = postmasterPid(dataDir);
    await untilRemembered();
    await rename(`${dataDir}/postgres`, `${dataDir}/postgres-away`);
    try {
      process.kill(pid, 'SIGKILL');
      await until(() => log.includes('does not start yet'), { what: 'a start in vain', timeoutMs: 10_000 });
      await refuses();
      expect((await beat()).status).to.equal(200);
    } finally {
      await rename(`${dataDir}/postgres-away`, `${dataDir}/postgres`);
    }
    const sent = beats;
    await allGoesOn();
    await untilStored(sent);
  });

  it('goes on after Postgres was killed', async () => {
    process.kill(postmasterPid(dataDir), 'SIGKILL');
    await until(async () => (await health()) === 503, { what: 'health to tell', everyMs: 1 });
    await allGoesOn();
  });

  it('goes on after Postgres hung for 3 seconds', async () => {
    await untilRemembered();
    const pids = processesBelow(postmasterPid(dataDir));
    const since = performance.now();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    let asked: Promise<{ status: number }>;
    try {
      asked = root.call('query', 'team.list');
      expect((await beat()).status).to.equal(200);
      await until(() => performance.now() - since > 3_000, { what: '3 s to pass', everyMs: 50 });
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
    expect((await asked).status).to.be.oneOf([200, 503]);
    const sent = beats;
    await allGoesOn();
    await untilStored(sent);
  });

  it('goes on after its connections were cut under load', async () => {
    let running = true;
    const statuses = new Set<number>();
    const load = Array.from({ length: 8 }, async () => {
      for (let call = 0; running; call += 1) {
        const kind = call % 2 === 0 ? 'query' : 'mutation';
        const answer =
          kind === 'query'
            ? await root.call('query', 'team.list')
            : await root.call('mutation', 'team.create', { name: `Load ${performance.now()} ${call}` });
        statuses.add(answer.status);
      }
    });
    const { db } = controller.systemContext('test');
    for (let round = 0; round < 10; round += 1) {
      await db
        .raw('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()')
        .catch(() => {});
    }
    running = false;
    await Promise.all(load);
    expect(
      [...statuses].filter((status) => status !== 200 && status !== 503),
      log,
    ).to.deep.equal([]);
    await allGoesOn();
  });

  it('has told nothing of its password', async () => {
    const password = await readFile(`${dataDir}/postgres-password`, 'utf8');
    expect(log).not.to.contain(password.trim());
  });
});

describe('a controller whose disk runs full', function () {
  this.timeout(90_000);
  this.slow(30_000);

  it('answers 503 and says why, and goes on by itself once there is space', async function () {
    const dataDir = clusterFolder();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=711', 'headgate-test', dataDir]);
    if (mounted.status !== 0) {
      await rm(dataDir, { recursive: true });
      return this.skip(); // only root can make a small disk
    }
    let log = '';
    const controller = await startOn(dataDir, (text) => {
      log += text;
    });
    try {
      const url = `http://127.0.0.1:${controller.port}`;
      const root = await signIn(url, ROOT.email, ROOT.password);
      const health = async () => (await send(`${url}/api/health`)).status;
      const filler = `${dataDir}/filler`;
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=1M']);
      await until(async () => (await health()) === 503, { what: () => log, timeoutMs: 15_000, everyMs: 50 });
      expect(log).to.contain(`the disk of ${dataDir} is full`);
      // Some changes still find room in files that are there.
      let teams = 0;
      const refused = async () => {
        const { status, fault } = await root.call('mutation', 'team.create', { name: `Team ${++teams}` });
        if (status === 200) return false;
        expect(status).to.equal(503);
        // Where its own log finds no room, PostgreSQL goes down, and comes back once there is some.
        expect(fault?.message).to.match(/^The (disk of the database is full|database does not answer)/);
        return true;
      };
      await until(refused, { what: 'a change to be refused', timeoutMs: 30_000 });
      rmSync(filler);
      await until(async () => (await health()) === 200, { what: () => log, timeoutMs: 30_000, everyMs: 50 });
      await root.mutate('team.create', { name: 'After' });
    } finally {
      await controller.stop();
      execFileSync('umount', ['-l', dataDir]);
      await rm(dataDir, { recursive: true });
    }
    expect(log).not.to.contain('request failed"');
  });
});
