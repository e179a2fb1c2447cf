/** Starting and ending, in order and not. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { signIn } from '../../../controller/demo/client.ts';
import { runningProcess } from '../../../controller/platform/runtime/process-record.ts';
import type { PipelineSummary } from '../../../schemas/api/pipelines/pipelines.ts';
import { Clone } from '../../support/clients/clone.ts';
import { onNodes, untilRunning } from '../../support/fixtures/pipelines.ts';
import {
  freePort,
  type RunningHeadgate,
  removeDataDir,
  startHeadgate,
  startInVain,
  temporaryDataDir,
} from '../../support/harness/headgate.ts';
import { enginesOf, processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';

const root = join(import.meta.dirname, '../../..');

/** Every pipeline of the environment runs; answers name to pid. */
async function allRunning(headgate: RunningHeadgate): Promise<Record<string, number>> {
  const api = await headgate.api();
  const { staging } = headgate.environments;
  const pids: Record<string, number> = {};
  await until(
    async () => (await api.query<PipelineSummary[]>('pipeline.list', { environmentId: staging })).length > 2,
    { what: 'the example to be applied', timeoutMs: 15_000, everyMs: 50 },
  );
  for (const { id, name } of await api.query<PipelineSummary[]>('pipeline.list', {
    environmentId: staging,
  })) {
    pids[name] = (await untilRunning(api, id, 1)).pid;
  }
  return pids;
}

const idsOf = async (headgate: RunningHeadgate) => {
  const api = await headgate.api();
  const [pipelines, fleet] = await Promise.all([
    api.query<PipelineSummary[]>('pipeline.list', { environmentId: headgate.environments.staging }),
    api.query<{ id: string }[]>('fleet.list', { environmentId: headgate.environments.staging }),
  ]);
  return { pipelines: pipelines.map(({ id }) => id), nodes: fleet.map(({ id }) => id) };
};

const isAgent = ([program = '']: string[]) => program.endsWith('headgate-agent');

describe('the life of make run', function () {
  this.timeout(90_000);
  let dataDir: string;
  let headgate: RunningHeadgate;

  before(async () => {
    dataDir = temporaryDataDir();
    headgate = await startHeadgate({ dataDir });
  });
  after(async () => {
    await headgate?.stop();
    await removeDataDir(dataDir);
  });
  const nothingLeft = () => expect(processesNaming(dataDir)).to.deep.equal([]);

  it('ends everything on Ctrl-C, and starts again with the same ids, sign-in and clone token, whatever password the administrator has by then', async () => {
    await allRunning(headgate);
    const ids = await idsOf(headgate);
    const { adminEmail, adminPassword, cloneUrl, environments } = headgate;
    const own = 'a kettle that nobody else has';
    const change = async (from: string, to: string) => {
      const api = await signIn(headgate.url, adminEmail, from);
      await api.mutate('user.changePassword', { currentPassword: from, newPassword: to });
    };
    await change(adminPassword, own);
    expect(await headgate.stop('SIGINT')).to.equal(0);
    expect(headgate.output()).to.match(/Stopping: .*\nStopped\.\n$/);
    nothingLeft();
    headgate = await startHeadgate({ dataDir, port: Number(new URL(headgate.url).port) });
    expect(headgate).to.deep.include({ adminPassword, cloneUrl, environments });
    expect(headgate.output()).to.include(`password ${adminPassword}, unless you changed it`);
    await change(own, adminPassword);
    await allRunning(headgate);
    expect(await idsOf(headgate)).to.deep.equal(ids);
    await (await Clone.of(headgate.cloneUrl)).remove();
  });

  it('goes on after a SIGKILL: engines run meanwhile, then are replaced, and none runs twice', async () => {
    const before = await allRunning(headgate);
    const ids = await idsOf(headgate);
    await headgate.stop('SIGKILL');
    const log = () => readFileSync(join(dataDir, 'agents/staging/agent.log'), 'utf8');
    const said = log().length;
    await until(() => log().slice(said).includes('poll failed'), {
      what: 'the agent to tell that it is alone',
      timeoutMs: 20_000,
      everyMs: 50,
    });
    const left = processesNaming(dataDir).map(({ pid }) => pid);
    for (const pid of Object.values(before)) expect(left).to.include(pid);

    headgate = await startHeadgate({ dataDir });
    expect(headgate.output()).not.to.contain('ended (');
    const now = processesNaming(dataDir).map(({ pid }) => pid);
    for (const pid of Object.values(before)) expect(now).not.to.include(pid);
    expect(await idsOf(headgate)).to.deep.equal(ids);
    await until(() => ids.pipelines.every((id) => enginesOf(id).length === 1), {
      what: 'one engine a pipeline',
      timeoutMs: 15_000,
      everyMs: 50,
    });
    // Not yet exec'ed, an engine to be still looks like its agent.
    const agents = () => processesNaming(dataDir).filter(({ commandLine }) => isAgent(commandLine)).length;
    await until(() => agents() === 3, { what: () => `three agents, there are ${agents()}` });
  });

  it('starts an agent again that was killed, which replaces the engines that were left', async () => {
    const before = Object.values(await allRunning(headgate));
    const { pipelines } = await idsOf(headgate);
    process.kill(runningProcess(join(dataDir, 'agents/staging/agent.pid')) ?? 0, 'SIGKILL');
    await until(() => headgate.output().includes('ended (by a signal) and is started again in 1 s'), {
      what: 'what happened is told',
    });
    const isReplaced = (id: string) => {
      const pids = enginesOf(id);
      return pids.length === 1 && !before.includes(pids[0] ?? 0);
    };
    await until(() => pipelines.every(isReplaced), { what: 'other engines, one a pipeline' });
    await allRunning(headgate);
  });

  it('refuses a second start on its data, and is not disturbed by it', async () => {
    const before = await allRunning(headgate);
    const { code, output } = await startInVain({ dataDir });
    expect(code).to.equal(1);
    expect(output.split('\n').filter(Boolean)).to.have.length(1);
    expect(output).to.contain(
      `another Headgate (process ${headgate.pid}) runs on the data directory ${dataDir}`,
    );
    expect(await allRunning(headgate)).to.deep.equal(before);
    const api = await headgate.api();
    for (const id of (await idsOf(headgate)).pipelines) expect(await onNodes(api, id)).to.have.length(1);
  });

  it('ends everything when its terminal is closed', async () => {
    expect(await headgate.hangUp()).to.equal(0);
    nothingLeft();
  });
});

describe('a start that cannot be', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-vain-'));
    chmodSync(folder, 0o711);
  });
  afterEach(async () => {
    expect(processesNaming(folder)).to.deep.equal([]);
    await removeDataDir(folder);
  });
  it('because the port is taken says which, and leaves nothing running', async () => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((done) => other.listen(port, '127.0.0.1', done));
    try {
      const { code, output } = await startInVain({ dataDir: folder, port });
      const lines = output.split('\n').filter((line) => line !== '' && !/^ {2}.* …$/.test(line));
      expect(lines, output).to.have.length(1);
      expect(lines[0]).to.match(
        new RegExp(`^headgate: port ${port} is taken by another program; .*HEADGATE_PORT`),
      );
      expect(code).to.equal(1);
    } finally {
      other.close();
    }
  });

  it('because Node is too old is told by make before anything is installed', () => {
    mkdirSync(join(folder, 'bin'));
    // Answers as the old version would: the check is run by it, so it is given the version to see.
    const fake = `#!/bin/sh\nexec ${process.execPath} -e 'Object.defineProperty(process, "versions", { value: { node: "18.20.0" } }); Object.defineProperty(process, "version", { value: "v18.20.0" }); eval(process.argv[1])' "$2"\n`;
    writeFileSync(join(folder, 'bin/node'), fake, { mode: 0o755 });
    writeFileSync(join(folder, 'bin/npm'), '#!/bin/sh\necho npm was called\n', { mode: 0o755 });
    // A copy without what was installed: there, the pinned Node is not on the path either.
    for (const file of ['Makefile', 'package.json', 'package-lock.json'])
      writeFileSync(join(folder, file), readFileSync(join(root, file)));
    const { status, stderr, stdout } = spawnSync('make', ['-C', folder, 'install'], {
      encoding: 'utf8',
      env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
    });
    expect(stderr).to.contain('headgate: Node.js 20 or newer is needed, this is v18.20.0');
    expect(stdout).not.to.contain('npm was called');
    expect(status).not.to.equal(0);
    rmSync(join(folder, 'bin'), { recursive: true });
  });
});
