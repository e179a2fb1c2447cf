/** What is wrong with one manifest hurts that pipeline alone, and says where it is and what to do. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import type { GitSyncStatus, ImportError } from '../../../schemas/api/delivery/git-sync.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import type { VersionSummary } from '../../../schemas/api/pipelines/versions.ts';
import { Clone } from '../../support/clients/clone.ts';
import { findPipeline, idleManifest, namedPipeline, untilRunning } from '../../support/fixtures/pipelines.ts';
import { type RunningHeadgate, startHeadgate } from '../../support/harness/headgate.ts';
import { enginesOf, environmentOf, processesNaming } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';

const fileOf = (name: string) => `environments/staging/pipelines/${name}.yaml`;

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

const VRL = 'shared/vrl/access-log.vrl';
const SECRET = 'tooth-and-nail-4711';

describe('a push with faults', function () {
  this.timeout(60_000);
  let headgate: RunningHeadgate;
  let api: ApiClient;
  let clone: Clone;
  let staging: string;
  let goodProgram: string;
  const good = (name: string, description = '') => idleManifest(name, description);
  const running = new Map<string, { id: string; pid: number }>();

  const errors = () =>
    api.query<ImportError[]>('gitSync.importErrors', { environmentId: staging, limit: 50 });
  const place = ({ path, line, column }: ImportError) => `${path}:${line}:${column}`;

  before(async () => {
    headgate = await startHeadgate();
    api = await headgate.api();
    clone = await Clone.of(headgate.cloneUrl);
    staging = headgate.environments.staging;
    goodProgram = clone.read(VRL);
    const names = [...FAULTS.map(({ name }) => name), 'sound'];
    await clone.push('Good ones', Object.fromEntries(names.map((name) => [fileOf(name), good(name)])));
    for (const name of [...names, 'web-logs']) {
      const { id } = await namedPipeline(api, staging, name);
      running.set(name, { id, pid: (await untilRunning(api, id, 1)).pid });
    }
  });
  after(async () => {
    await clone?.remove();
    await headgate?.remove();
  });

  describe('of every kind in one commit', () => {
    let said: string;
    let sha: string;

    before(async () => {
      const files: Record<string, string> = {
        [fileOf('sound')]: good('sound').replace('interval: 1', 'interval: 2'),
        [VRL]: `${goodProgram}.extra = parse_jsn(.message)\n`,
      };
      for (const { name, from, to } of FAULTS) files[fileOf(name)] = good(name).replace(from, to);
      ({ said, sha } = await clone.push('Faults', files));
    });

    for (const { name, reason, stage, place: where, message, hint } of FAULTS) {
      it(`tells of ${reason} with its place and what to do, and keeps what runs`, async () => {
        const found = (await errors()).filter((error) => error.path === fileOf(name));
        expect(found.map(place)).to.deep.equal([where]);
        const error = found[0];
        expect(error).to.include({ stage, commit: sha });
        expect(error?.message).to.match(message);
        expect(error?.hint).to.match(hint);
        expect(said).to.contain(`! ${where}: ${error?.message}`);
        expect(said).to.contain(`${error?.hint} (version 1 runs on)`);
        await keepsRunning(name);
      });
    }

    it('tells of a program that does not compile at its place inside the included file', async () => {
      const lines = goodProgram.split('\n').length;
      const where = `${VRL}:${lines}:10`;
      const error = (await errors()).find(({ path }) => path === VRL);
      expect(error && place(error)).to.equal(where);
      expect(error).to.include({ stage: 'vrl', name: 'web-logs' });
      expect(error?.hint).to.match(/did you mean "parse_json"\?/);
      expect(said).to.contain(`! ${where}: `);
      await keepsRunning('web-logs');
    });

    it('applies the others of the same commit', async () => {
      const { id, pid } = running.get('sound') ?? { id: '', pid: 0 };
      expect(said).to.match(/^remote: {3}~ sound: version 2\s*$/m);
      expect((await untilRunning(api, id, 2)).pid).not.to.equal(pid);
    });

    it('shows them in the status and at the gate', async () => {
      const status = await api.query<GitSyncStatus>('gitSync.status', { environmentId: staging });
      expect(status.importErrorCount).to.equal(FAULTS.length + 1);
      const pipeline = await api.query<Pipeline>('pipeline.get', { id: running.get('schema')?.id });
      expect(pipeline.gate.find(({ state }) => state === 'failed')?.reason).to.contain('snks');
    });

    it('has nothing left to tell after a push that mends them', async () => {
      const files: Record<string, string> = { [VRL]: goodProgram };
      for (const { name } of FAULTS) files[fileOf(name)] = good(name);
      const mended = await clone.push('Mend them', files);
      expect(mended.said).not.to.match(/^remote: {3}!/m);
      expect(mended.said).to.match(/^remote: {3}~ \S+: repaired, version \d+ runs on/m);
      expect(await errors()).to.deep.equal([]);
      for (const { name } of FAULTS) {
        await keepsRunning(name);
        const { gate } = await namedPipeline(api, staging, name);
        expect(gate.map(({ state }) => state)).to.deep.equal(['done', 'done', 'done', 'done']);
      }
      const status = await api.query<GitSyncStatus>('gitSync.status', { environmentId: staging });
      expect(status).to.include({ importErrorCount: 0, lastError: null });
    });
  });

  describe('that names a secret which does not exist', () => {
    const manifest = good('secretive')
      .replace(
        '  sinks:',
        `  transforms:\n    sign: { type: remap, inputs: [ticks], source: '.key = "\${SVC_SECRET_SHOP_KEY}"' }\n  sinks:`,
      )
      .replace('{ type: blackhole, inputs: [ticks] }', '{ type: blackhole, inputs: [sign] }');

    it('says how to create it', async () => {
      const { said } = await clone.push('Needs a secret', { [fileOf('secretive')]: manifest });
      expect(said).to.contain(`the secret behind \${SVC_SECRET_SHOP_KEY} does not exist in this environment`);
      expect(said).to.contain('create a secret whose name becomes SVC_SECRET_SHOP_KEY');
      expect((await errors()).map(({ stage, line }) => [stage, line])).to.deep.equal([['secrets', 9]]);
      expect(await findPipeline(api, staging, 'secretive')).to.equal(undefined);
    });

    it('is applied when the secret is created, without another push', async () => {
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

    it('shows the value in no file, no answer, and to no other process', async () => {
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

  async function keepsRunning(name: string): Promise<void> {
    const { id, pid } = running.get(name) ?? { id: '', pid: 0 };
    const now = await untilRunning(api, id, 1);
    expect(now.desiredVersion).to.equal(1);
    expect(now.pid).to.equal(pid);
    expect(enginesOf(id)).to.deep.equal([pid]);
  }
});
