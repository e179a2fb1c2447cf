/**
 * The main job: what is pushed runs. What is wrong with one manifest hurts that pipeline alone, and says where it is and what
 * to do; and what runs in staging is promoted to production.
 */
import { appendFileSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import type { GitSyncStatus, ImportError } from '../../../schemas/api/delivery/git-sync.ts';
import type { Promotion, PromotionPreflight } from '../../../schemas/api/delivery/promotions.ts';
import type { DeploymentStatus } from '../../../schemas/api/pipelines/deployments.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import type { VersionSummary } from '../../../schemas/api/pipelines/versions.ts';
import { AUTHOR, Clone } from '../../support/clients/clone.ts';
import {
  findPipeline,
  idleManifest,
  namedPipeline,
  tailManifest,
  untilRunning,
} from '../../support/fixtures/pipelines.ts';
import { type RunningHeadgate, startHeadgate } from '../../support/harness/headgate.ts';
import { enginesOf, environmentOf, processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';

const fileOf = (name: string, environment = 'staging') =>
  `environments/${environment}/pipelines/${name}.yaml`;
const TAIL = fileOf('tail');
const VRL = 'shared/vrl/access-log.vrl';
const SECRET = 'tooth-and-nail-4711';

/** A line of the good manifest, replaced; and what is said about it. */
interface Fault {
  name: string;
  reason: string;
  from: string;
  to: string;
  stage: string;
  place: string;
  message: RegExp;
  hint: RegExp;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'yaml',
    reason: 'YAML that does not parse',
    from: '  sinks:',
    to: '\tsinks:',
    stage: 'parse',
    place: `${fileOf('yaml')}:8:1`,
    message: /tabs are not allowed as indentation/,
    hint: /Indent with spaces/,
  },
  {
    name: 'schema',
    reason: 'a misspelt field',
    from: '  sinks:',
    to: '  snks:',
    stage: 'schema',
    place: `${fileOf('schema')}:8:3`,
    message: /`snks` is not a known field of spec/,
    hint: /Did you mean `sinks`\?/,
  },
  {
    name: 'graph',
    reason: 'an input that no component has',
    from: 'inputs: [ticks]',
    to: 'inputs: [tick]',
    stage: 'graph',
    place: `${fileOf('graph')}:9:42`,
    message: /input "tick" of "discard" matches no component/,
    hint: /did you mean "ticks"\?/,
  },
];

describe('a push', function () {
  this.timeout(120_000);
  let headgate: RunningHeadgate;
  let api: ApiClient;
  let clone: Clone;
  let staging: string;
  const folder = mkdtempSync(join(tmpdir(), 'headgate-lines-'));

  const append = (text: string) => appendFileSync(join(folder, 'in.log'), text);
  const output = () => {
    const file = join(folder, 'out.log');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  };
  const untilOutput = (lines: string[]) =>
    until(() => output().length >= lines.length, {
      what: () => `${lines}, there is ${output()}`,
      timeoutMs: 10_000,
    });

  before(async () => {
    headgate = await startHeadgate();
    api = await headgate.api();
    clone = await Clone.of(headgate.cloneUrl);
    staging = headgate.environments.staging;
  });
  after(async () => {
    await clone?.remove();
    await headgate?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('of a new manifest starts an engine, and events flow through its program', async () => {
    const { said } = await clone.push('Follow a file', { [TAIL]: tailManifest(folder, 'first') });
    expect(said).to.match(/^remote: {3}\+ tail: created, version 1\s*$/m);
    const { id } = await namedPipeline(api, staging, 'tail');
    const { pid } = await untilRunning(api, id, 1);
    expect(enginesOf(id)).to.deep.equal([pid]);
    append('a\nb\n');
    await untilOutput(['first a', 'first b']);
    expect(output()).to.deep.equal(['first a', 'first b']);
  });

  it('of a change is STARTING, then RUNNING in another process with the new program, and loses no line', async () => {
    const { id } = await namedPipeline(api, staging, 'tail');
    const before = await untilRunning(api, id, 1);
    const seen: string[] = [];
    const running = until(
      async () => {
        const status = await api.query<DeploymentStatus>('pipeline.deploymentStatus', { pipelineId: id });
        const node = status.nodes[0];
        const now = `deployed ${status.deployedVersionNumber}, version ${node?.version} ${node?.status}`;
        if (seen.at(-1) !== now) seen.push(now);
        return now === 'deployed 2, version 2 RUNNING';
      },
      { what: () => `version 2 to run: ${seen.join('; ')}`, timeoutMs: 20_000, everyMs: 10 },
    );
    const { sha, said } = await clone.push('Say second\n\nBecause of the test.', {
      [TAIL]: tailManifest(folder, 'second'),
    });
    await running;
    expect(said).to.match(/^remote: staging at [0-9a-f]{7} "Say second"\s*$/m);
    expect(said).to.match(/^remote: {3}~ tail: version 2\s*$/m);
    expect(seen[0]).to.equal('deployed 1, version 1 RUNNING');
    expect(seen, seen.join('; ')).to.include('deployed 2, version 2 STARTING');

    const { pid } = await untilRunning(api, id, 2);
    expect(pid).not.to.equal(before.pid);
    await until(() => enginesOf(id).length === 1, { what: 'the former engine to end' });
    expect(enginesOf(id)).to.deep.equal([pid]);
    append('c\n');
    await untilOutput(['first a', 'first b', 'second c']);
    expect(output()).to.deep.equal(['first a', 'first b', 'second c']);

    const versions = await api.query<VersionSummary[]>('pipeline.versions', { pipelineId: id });
    expect(versions.map(({ version, isDeployed }) => [version, isDeployed])).to.deep.equal([
      [2, true],
      [1, false],
    ]);
    expect(versions[0]).to.include({
      commit: sha,
      commitAuthor: AUTHOR.name,
      changelog: 'Say second',
      source: 'git',
      path: TAIL,
    });
    expect(versions[0]?.commitMessage).to.contain('Because of the test.');
    const pipeline = await api.query<Pipeline>('pipeline.get', { id });
    expect(pipeline).to.include({ deployedVersionNumber: 2, latestVersionNumber: 2, managedBy: 'git' });
    expect(pipeline.latestVersion).to.include({ version: 2, commit: sha, commitAuthor: AUTHOR.name });
    expect(pipeline.git).to.include({ path: TAIL, commit: sha });
    expect(pipeline.gate.map(({ point, state }) => `${point} ${state}`)).to.deep.equal([
      'git done',
      'accepted done',
      'delivered done',
      'running done',
    ]);
  });

  it('that changes nothing but a comment makes no version and restarts nothing', async () => {
    const { id } = await namedPipeline(api, staging, 'tail');
    const before = await untilRunning(api, id, 2);
    await clone.push('Explain', { [TAIL]: `# lines of a file\n${tailManifest(folder, 'second')}` });
    const versions = await api.query<VersionSummary[]>('pipeline.versions', { pipelineId: id });
    expect(versions).to.have.length(2);
    expect((await untilRunning(api, id, 2)).pid).to.equal(before.pid);
  });

  it('without the manifest stops the engine; with it again, the pipeline is back with its id and versions', async () => {
    const { id } = await namedPipeline(api, staging, 'tail');
    const { said } = await clone.push('Forget the file', { [TAIL]: null });
    expect(said).to.match(/^remote: {3}- tail: stopped and deleted/m);
    expect(await findPipeline(api, staging, 'tail')).to.equal(undefined);
    await until(() => enginesOf(id).length === 0, { what: 'the engine to end', timeoutMs: 10_000 });

    await clone.git('revert', '--no-edit', 'HEAD');
    const back = await clone.git('push', 'origin', 'main');
    expect(back).to.match(/^remote: {3}\+ tail: back with its id and history, version 2\s*$/m);
    expect((await namedPipeline(api, staging, 'tail')).id).to.equal(id);
    const versions = await api.query<VersionSummary[]>('pipeline.versions', { pipelineId: id });
    expect(versions.map(({ version }) => version)).to.deep.equal([2, 1]);
    await untilRunning(api, id, 2);
    append('d\n');
    await untilOutput(['first a', 'first b', 'second c', 'second d']);
    expect(output().at(-1)).to.equal('second d');
  });

  it('that renames a manifest keeps id, versions and engine: by uid, and by previousName', async () => {
    const path = fileOf('named');
    await clone.push('One with a uid', { [path]: idleManifest('one', 'x', ', uid: u1') });
    const { id } = await namedPipeline(api, staging, 'one');
    const { pid } = await untilRunning(api, id, 1);

    const byUid = await clone.push('One is two', { [path]: idleManifest('two', 'x', ', uid: u1') });
    expect(byUid.said).to.match(/^remote: {3}~ two: renamed from one/m);
    expect((await namedPipeline(api, staging, 'two')).id).to.equal(id);
    const byName = await clone.push('Two is three', {
      [path]: null,
      [fileOf('three')]: idleManifest('three', 'x', ', previousName: two'),
    });
    expect(byName.said).to.match(/^remote: {3}~ three: renamed from two/m);
    expect((await namedPipeline(api, staging, 'three')).id).to.equal(id);
    expect(await findPipeline(api, staging, 'one')).to.equal(undefined);
    expect(await findPipeline(api, staging, 'two')).to.equal(undefined);
    const versions = await api.query<VersionSummary[]>('pipeline.versions', { pipelineId: id });
    expect(versions.map(({ version, changelog }) => [version, changelog])).to.deep.equal([
      [1, 'One with a uid'],
    ]);
    expect(enginesOf(id)).to.deep.equal([pid]);
  });

  it('to staging runs in production once its promotion is merged by a push', async () => {
    await clone.push('Ticks in staging', { [fileOf('ticks')]: idleManifest('ticks', 'first') });
    const { production } = headgate.environments;
    const { id } = await namedPipeline(api, staging, 'ticks');
    await untilRunning(api, id, 1);
    const between = { pipelineId: id, targetEnvironmentId: production };
    const preflight = await api.query<PromotionPreflight>('promotion.preflight', between);
    expect(preflight).to.deep.include({ canProceed: true, outcome: 'AWAITING_PR_MERGE', missingSecrets: [] });
    expect(preflight.sourceHealth.state).to.equal('healthy');
    const asked = await api.mutate<{ requestId: string; status: string; pullRequest: { number: number } }>(
      'promotion.initiate',
      between,
    );
    expect(asked.status).to.equal('AWAITING_PR_MERGE');
    const pulls = await api.query<{ number: number; branch: string }[]>('pullRequest.list', {
      environmentId: production,
    });
    const branch = pulls.find(({ number }) => number === asked.pullRequest.number)?.branch ?? '';
    // As a person merges it in a clone.
    await clone.git('fetch', 'origin');
    await clone.git('merge', '--ff-only', 'origin/main');
    await clone.git('merge', '--no-ff', '--no-edit', `origin/${branch}`);
    await clone.git('push', 'origin', 'main');
    const promotion = () => api.query<Promotion>('promotion.get', { requestId: asked.requestId });
    await until(async () => (await promotion()).status === 'DEPLOYED', {
      what: 'the promotion to be deployed',
      everyMs: 100,
      timeoutMs: 30_000,
    });
    const { targetPipelineId, targetVersion } = await promotion();
    expect(targetVersion).to.equal(1);
    await untilRunning(api, targetPipelineId ?? '', 1);
    expect(clone.read(fileOf('ticks', 'production'))).to.contain('deployed: true');
  });

  describe('with faults', () => {
    const errors = () =>
      api.query<ImportError[]>('gitSync.importErrors', { environmentId: staging, limit: 50 });
    const place = ({ path, line, column }: ImportError) => `${path}:${line}:${column}`;
    const running = new Map<string, { id: string; pid: number }>();

    async function keepsRunning(name: string): Promise<void> {
      const { id, pid } = running.get(name) ?? { id: '', pid: 0 };
      const now = await untilRunning(api, id, 1);
      expect(now.desiredVersion).to.equal(1);
      expect(now.pid).to.equal(pid);
      expect(enginesOf(id)).to.deep.equal([pid]);
    }

    it('of every kind in one commit reports each with its place and what to do, keeps what runs, and applies the others', async () => {
      const goodProgram = clone.read(VRL);
      const names = [...FAULTS.map(({ name }) => name), 'sound'];
      const good = Object.fromEntries(names.map((name) => [fileOf(name), idleManifest(name)]));
      await clone.push('Good ones', good);
      for (const name of [...names, 'web-logs']) {
        const { id } = await namedPipeline(api, staging, name);
        running.set(name, { id, pid: (await untilRunning(api, id, 1)).pid });
      }
      const files: Record<string, string> = {
        [fileOf('sound')]: idleManifest('sound').replace('interval: 1', 'interval: 2'),
        [VRL]: `${goodProgram}.extra = parse_jsn(.message)\n`,
      };
      for (const { name, from, to } of FAULTS) files[fileOf(name)] = idleManifest(name).replace(from, to);
      const { said, sha } = await clone.push('Faults', files);

      for (const { name, stage, place: where, message, hint } of FAULTS) {
        const found = (await errors()).filter((error) => error.path === fileOf(name));
        expect(found.map(place)).to.deep.equal([where]);
        const error = found[0];
        expect(error).to.include({ stage, commit: sha });
        expect(error?.message).to.match(message);
        expect(error?.hint).to.match(hint);
        expect(said).to.contain(`! ${where}: ${error?.message}`);
        expect(said).to.contain(`${error?.hint} (version 1 runs on)`);
        await keepsRunning(name);
      }
      const inProgram = `${VRL}:${goodProgram.split('\n').length}:10`;
      const error = (await errors()).find(({ path }) => path === VRL);
      expect(error && place(error), 'inside the included file').to.equal(inProgram);
      expect(error).to.include({ stage: 'vrl', name: 'web-logs' });
      expect(error?.hint).to.match(/did you mean "parse_json"\?/);
      expect(said).to.contain(`! ${inProgram}: `);
      await keepsRunning('web-logs');
      const { id, pid } = running.get('sound') ?? { id: '', pid: 0 };
      expect(said).to.match(/^remote: {3}~ sound: version 2\s*$/m);
      expect((await untilRunning(api, id, 2)).pid).not.to.equal(pid);
      const status = () => api.query<GitSyncStatus>('gitSync.status', { environmentId: staging });
      expect((await status()).importErrorCount).to.equal(FAULTS.length + 1);
      const pipeline = await api.query<Pipeline>('pipeline.get', { id: running.get('schema')?.id });
      expect(pipeline.gate.find(({ state }) => state === 'failed')?.reason).to.contain('snks');

      const { [fileOf('sound')]: _, ...others } = good;
      const mended = await clone.push('Mend them', { ...others, [VRL]: goodProgram });
      expect(mended.said).not.to.match(/^remote: {3}!/m);
      expect(mended.said).to.match(/^remote: {3}~ \S+: repaired, version \d+ runs on/m);
      expect(await errors()).to.deep.equal([]);
      for (const { name } of FAULTS) {
        await keepsRunning(name);
        const { gate } = await namedPipeline(api, staging, name);
        expect(gate.map(({ state }) => state)).to.deep.equal(['done', 'done', 'done', 'done']);
      }
      expect(await status()).to.include({ importErrorCount: 0, lastError: null });
    });

    it('that names a secret which does not exist says how to create it, and is applied once it is created', async () => {
      const manifest = idleManifest('secretive')
        .replace(
          '  sinks:',
          `  transforms:\n    sign: { type: remap, inputs: [ticks], source: '.key = "\${SVC_SECRET_SHOP_KEY}"' }\n  sinks:`,
        )
        .replace('{ type: blackhole, inputs: [ticks] }', '{ type: blackhole, inputs: [sign] }');
      const { said } = await clone.push('Needs a secret', { [fileOf('secretive')]: manifest });
      expect(said).to.contain(`the secret behind \${SVC_SECRET_SHOP_KEY} does not exist in this environment`);
      expect(said).to.contain('create a secret whose name becomes SVC_SECRET_SHOP_KEY');
      expect((await errors()).map(({ stage, line }) => [stage, line])).to.deep.equal([['secrets', 9]]);
      expect(await findPipeline(api, staging, 'secretive')).to.equal(undefined);
      await api.mutate('secret.create', { environmentId: staging, name: 'shop-key', value: SECRET });
      await until(async () => (await findPipeline(api, staging, 'secretive')) !== undefined, {
        what: 'the pipeline to be made',
        timeoutMs: 10_000,
        everyMs: 20,
      });
      const { id } = await namedPipeline(api, staging, 'secretive');
      const { pid } = await untilRunning(api, id, 1);
      expect(environmentOf(pid)).to.include({ SVC_SECRET_SHOP_KEY: SECRET });
      expect(await errors()).to.deep.equal([]);
    });

    it('shows the value of a secret in no file, no answer, and to no other process', async () => {
      const { id } = await namedPipeline(api, staging, 'secretive');
      expect(processesNaming(SECRET).map(({ pid }) => pid)).to.deep.equal(enginesOf(id));
      const files = globSync('**', { cwd: headgate.dataDir }).map((path) => join(headgate.dataDir, path));
      const holding = files.filter(
        // Postgres keeps it encrypted: its files are looked into as well. Temporary ones may be gone by now.
        (path) =>
          statSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path).includes(SECRET),
      );
      expect(files.length).to.be.greaterThan(20);
      expect(holding).to.deep.equal([]);
      const [version] = await api.query<VersionSummary[]>('pipeline.versions', { pipelineId: id });
      const answers = await Promise.all([
        api.query('pipeline.get', { id }),
        api.query('pipeline.getVersion', { versionId: version?.id }),
        api.query('deploy.preview', { pipelineId: id }),
        api.query('secret.list', { environmentId: staging }),
        api.query('gitSync.status', { environmentId: staging }),
        api.query('gitSync.jobs', { environmentId: staging }),
      ]);
      expect(JSON.stringify(answers)).to.contain('SVC_SECRET_SHOP_KEY').and.not.contain(SECRET);
    });

    it('restarts that pipeline alone when the value changes', async () => {
      const { id } = await namedPipeline(api, staging, 'secretive');
      const before = enginesOf(id);
      const [secret] = await api.query<{ id: string }[]>('secret.list', { environmentId: staging });
      await api.mutate('secret.update', { environmentId: staging, id: secret?.id, value: `${SECRET}-2` });
      await until(() => enginesOf(id).some((pid) => !before.includes(pid)), {
        what: 'a new engine',
        timeoutMs: 10_000,
      });
      const { pid } = await untilRunning(api, id, 1);
      await until(() => enginesOf(id).length === 1, { what: 'the former engine to end' });
      const [now = pid] = enginesOf(id);
      expect(environmentOf(now)).to.include({ SVC_SECRET_SHOP_KEY: `${SECRET}-2` });
      await keepsRunning('web-logs');
    });
  });

  // After all the others: a suite comes after the cases beside it.
  describe('is over', () => {
    it('once Headgate is, which ends everything on SIGTERM', async () => {
      expect(processesNaming(headgate.dataDir)).not.to.deep.equal([]);
      expect(await headgate.stop('SIGTERM')).to.equal(0);
      expect(headgate.output()).to.match(/Stopping: .*\nStopped\.\n$/);
      expect(processesNaming(headgate.dataDir)).to.deep.equal([]);
    });
  });
});
