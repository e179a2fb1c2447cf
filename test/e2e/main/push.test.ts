/** The main job: what is pushed runs. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
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
import { enginesOf } from '../../support/harness/processes.ts';
import { until } from '../../support/harness/until.ts';

const TAIL = 'environments/staging/pipelines/tail.yaml';

describe('a push', function () {
  this.timeout(60_000);
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
    const path = 'environments/staging/pipelines/named.yaml';
    await clone.push('One with a uid', { [path]: idleManifest('one', 'x', ', uid: u1') });
    const { id } = await namedPipeline(api, staging, 'one');
    const { pid } = await untilRunning(api, id, 1);

    const byUid = await clone.push('One is two', { [path]: idleManifest('two', 'x', ', uid: u1') });
    expect(byUid.said).to.match(/^remote: {3}~ two: renamed from one/m);
    expect((await namedPipeline(api, staging, 'two')).id).to.equal(id);
    const byName = await clone.push('Two is three', {
      [path]: null,
      'environments/staging/pipelines/three.yaml': idleManifest('three', 'x', ', previousName: two'),
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
});
