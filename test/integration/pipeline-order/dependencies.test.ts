/** Dependencies among pipelines: said by people, said by manifests, and never in a circle. */
import { expect } from 'chai';
import { pipelineDependencyOperations } from '../../../controller/pipelines/order/index.ts';
import type {
  Dependency,
  DependencyGraph,
  OtherPipeline,
} from '../../../schemas/api/pipelines/pipeline-order.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { useController } from '../../support/harness/controller.ts';
import { countStatements } from '../../support/harness/statements.ts';
import { until } from '../../support/harness/until.ts';
import { refusal } from '../../support/scenes/places.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';
import { signUp, type TestUser } from '../../support/users/person.ts';

describe('pipeline dependencies', () => {
  const test = useController();
  const teams = useTwoTeams(test);
  /** EDITOR in both teams. */
  let both: TestUser;
  let environmentId: string;
  let made = 0;

  before(async () => {
    environmentId = teams.ours.environmentId;
    const roles = { [teams.ours.teamId]: 'EDITOR', [teams.theirs.teamId]: 'EDITOR' } as const;
    both = await signUp(test, { email: 'both@example.org', teams: roles });
    const dependent = (name: string, dependsOn: string) =>
      idleManifest(name).replace('spec:', `spec:\n  dependsOn: [${dependsOn}]`);
    await teams.git.commit({
      'ours/first.yaml': idleManifest('first'),
      'ours/second.yaml': dependent('second', 'first, orders'),
      'ours/third.yaml': dependent('third', 'second'),
    });
    const { stderr } = await teams.git.push();
    await until(async () => (await names()).includes('third'), { what: `the manifests: ${stderr}` });
  });

  const pipelines = () =>
    teams.viewer.query<{ id: string; name: string }[]>('pipeline.list', { environmentId });
  const names = async () => (await pipelines()).map(({ name }) => name);
  const idOf = async (name: string) => (await pipelines()).find((one) => one.name === name)?.id ?? '';
  const draft = async (name = `draft ${++made}`, at = environmentId) =>
    (await both.mutate<{ id: string }>('pipeline.create', { environmentId: at, name })).id;
  const drafts = (count: number) => Promise.all(Array.from({ length: count }, () => draft()));
  const add = (upstreamId: string, downstreamId: string, description?: string) =>
    teams.editor.mutate<Dependency>('pipelineDependency.add', { upstreamId, downstreamId, description });
  const tryAdd = (upstreamId = '', downstreamId = '', person = both) =>
    refusal(person, 'mutation', 'pipelineDependency.add', { upstreamId, downstreamId });
  const of = <T = Dependency[]>(procedure: string, pipelineId: string) =>
    teams.viewer.query<T>(`pipelineDependency.${procedure}`, { pipelineId });
  const deploy = async (id: string) =>
    test.db('pipelines').where({ id }).update({ is_draft: false, deployed_at: new Date() });

  it('are said by people, with a description, and taken back', async () => {
    const [up, down] = (await drafts(2)) as [string, string];
    const added = await add(up, down, 'reads its topic');
    const { id, createdAt } = added;
    const [upstreamName] = (await pipelines()).filter((one) => one.id === up).map(({ name }) => name);
    expect(added).to.deep.equal({
      ...{ id, createdAt, source: 'ui', upstreamId: up, upstreamName, upstreamIsDraft: true },
      description: 'reads its topic',
    });
    expect(await of('list', down)).to.deep.equal([added]);
    expect(await of('list', up)).to.deep.equal([]);
    expect(await teams.editor.mutate('pipelineDependency.remove', { id })).to.deep.equal({ deleted: true });
    expect(await of('list', down)).to.deep.equal([]);
    expect(await refusal(teams.editor, 'mutation', 'pipelineDependency.remove', { id })).to.match(
      /^NOT_FOUND/,
    );
  });

  it('are said by manifests too, without an id, since they are taken back there', async () => {
    const entry = async (name: string) => ({
      ...{
        id: null,
        source: 'git',
        upstreamId: await idOf(name),
        upstreamName: name,
        upstreamIsDraft: false,
      },
      ...{ description: null, createdAt: null },
    });
    expect(await of('list', await idOf('second'))).to.deep.equal([
      await entry('first'),
      await entry('orders'),
    ]);
  });

  it('are refused with path and line where a manifest describes the pipeline that depends', async () => {
    const { fault } = await both.call('mutation', 'pipelineDependency.add', {
      ...{ upstreamId: await draft(), downstreamId: await idOf('first') },
    });
    expect(fault?.data).to.include({ code: 'PRECONDITION_FAILED', path: 'ours/first.yaml', line: 1 });
    expect(fault?.message).to.include('ours/first.yaml:1');
  });

  it('may be on a pipeline that git describes', async () => {
    const down = await draft();
    expect(await tryAdd(await idOf('third'), down)).to.equal('OK');
  });

  it('are refused a second time', async () => {
    const [up, down] = (await drafts(2)) as [string, string];
    await add(up, down);
    expect(await tryAdd(up, down)).to.match(/^CONFLICT: .*depends on .*already/);
  });

  it('are never on the pipeline itself', async () => {
    const id = await draft();
    expect(await tryAdd(id, id)).to.match(/^BAD_REQUEST: A pipeline cannot depend on itself/);
  });

  it('are in no circle, and the refusal names the way round', async () => {
    const [a, b, c] = await Promise.all([draft('circle a'), draft('circle b'), draft('circle c')]);
    await add(a, b);
    await add(b, c);
    expect(await tryAdd(c, a)).to.match(/^BAD_REQUEST: .*circle a → circle b → circle c → circle a$/);
    expect(await tryAdd(b, a)).to.match(/circle a → circle b → circle a$/);
  });

  it('are in no circle over both sources', async () => {
    const down = await draft('after third');
    await add(await idOf('third'), down);
    // As if a manifest had come to name it in the meantime.
    const id = await idOf('first');
    const names = JSON.stringify(['begins all']);
    await test.db('pipelines').where({ id }).update({ depends_on: names });
    const begins = await draft('begins all');
    expect(await tryAdd(down, begins)).to.match(
      /^BAD_REQUEST: .*begins all → first → second → third → after third → begins all$/,
    );
    await test.db('pipelines').where({ id }).update({ depends_on: '[]' });
    expect(await tryAdd(down, begins)).to.equal('OK');
  });

  it('tell of a long circle in few words', async () => {
    const ids = await Promise.all(Array.from({ length: 15 }, (_, n) => draft(`ring ${n}`)));
    for (const [n, id] of ids.slice(1).entries()) await add(ids[n] ?? '', id);
    expect(await tryAdd(ids[14], ids[0])).to.match(/ring 0 → ring 1 .*ring 8 → 5 more → ring 14 → ring 0$/);
  });

  it('are in no circle where two that would close one come at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = (await drafts(2)) as [string, string];
      const answers = await Promise.all([tryAdd(a, b), tryAdd(b, a)]);
      expect(answers.filter((answer) => answer === 'OK')).to.have.length(1);
      expect(answers.filter((answer) => answer.startsWith('BAD_REQUEST'))).to.have.length(1);
    }
  });

  it('stay within one environment, and do not tell of those of others', async () => {
    const here = await draft();
    const sibling = { teamId: teams.ours.teamId, name: 'sibling' };
    const { id } = await teams.root.mutate<{ id: string }>('environment.create', sibling);
    const nextDoor = await draft('next door', id);
    for (const mine of [nextDoor, teams.theirs.pipelineId]) {
      expect(await tryAdd(mine, here)).to.match(/^BAD_REQUEST: .*different environments/);
    }
    expect(await tryAdd(here, nextDoor)).to.match(/^BAD_REQUEST: .*different environments/);
    expect(await tryAdd(teams.theirs.pipelineId, here, teams.editor)).to.match(/^NOT_FOUND: Pipeline/);
    expect(await tryAdd(here, teams.theirs.pipelineId, teams.editor)).to.match(/^NOT_FOUND: Pipeline/);
  });

  it('are 500 of one pipeline at most', async () => {
    const down = await draft();
    await test.db.raw(
      `INSERT INTO pipelines (id, environment_id, name) SELECT 'up-' || n, ?, 'up ' || n FROM generate_series(1, 499) n`,
      [environmentId],
    );
    await test.db.raw(
      `INSERT INTO pipeline_dependencies (id, upstream_id, downstream_id)
       SELECT 'dep-' || n, 'up-' || n, ? FROM generate_series(1, 499) n`,
      [down],
    );
    expect(await tryAdd(await draft(), down)).to.equal('OK');
    expect(await tryAdd(await draft(), down)).to.match(/^PRECONDITION_FAILED: .*remove one first/);
    await test.db('pipelines').where('id', 'like', 'up-%').delete();
    expect(await of('list', down)).to.have.length(1);
  });

  it('warn before a deploy of what is not deployed upstream', async () => {
    const [up, other, down] = (await drafts(3)) as [string, string, string];
    await add(up, down);
    await add(other, down);
    await add(await idOf('first'), down);
    await deploy(other);
    const warned = await of('deployWarnings', down);
    expect(warned.map(({ upstreamId }) => upstreamId)).to.deep.equal([up]);
    await deploy(up);
    expect(await of('deployWarnings', down)).to.deep.equal([]);
  });

  it('warn before an undeploy of what is deployed downstream', async () => {
    const [up, down, other] = (await drafts(3)) as [string, string, string];
    await add(up, down);
    await add(up, other);
    expect(await of('undeployWarnings', up)).to.deep.equal([]);
    await deploy(down);
    const warned = await of<OtherPipeline[]>('undeployWarnings', up);
    expect(warned.map(({ id, isDraft }) => [id, isDraft])).to.deep.equal([[down, false]]);
    const second = await of<OtherPipeline[]>('undeployWarnings', await idOf('second'));
    expect(second.map(({ name }) => name)).to.deep.equal(['third']);
  });

  it('have as candidates what is neither there already nor would close a circle', async () => {
    const [up, middle, down] = (await drafts(3)) as [string, string, string];
    await add(up, middle);
    await add(middle, down);
    const candidates = async (pipelineId: string) =>
      (
        await teams.viewer.query<OtherPipeline[]>('pipelineDependency.listCandidates', {
          ...{ pipelineId, environmentId },
        })
      ).map(({ id }) => id);
    expect(await candidates(middle))
      .to.include(await idOf('orders'))
      .and.not.include.members([up]);
    for (const not of [up, middle, down]) expect(await candidates(middle)).not.to.include(not);
    expect(await candidates(down))
      .to.include(up)
      .and.not.include(middle);
    for (const id of await candidates(middle)) expect(await tryAdd(id, middle)).to.equal('OK');
  });

  it('have no candidates for a pipeline of another environment', async () => {
    const given = { pipelineId: teams.theirs.pipelineId, environmentId };
    const refused = await refusal(both, 'query', 'pipelineDependency.listCandidates', given);
    expect(refused).to.match(/^NOT_FOUND/);
  });

  it('are drawn as a graph, with the gate of each pipeline', async () => {
    const [up, down] = (await drafts(2)) as [string, string];
    const { id } = await add(up, down);
    const graph = await teams.viewer.query<DependencyGraph>('pipelineDependency.graph', { environmentId });
    expect(graph.nodes.map((node) => node.id).sort()).to.deep.equal(
      (await pipelines()).map((one) => one.id).sort(),
    );
    expect(graph.edges).to.deep.include({ id, source: 'ui', upstreamId: up, downstreamId: down });
    const [second, first] = [await idOf('second'), await idOf('first')];
    expect(graph.edges).to.deep.include({
      ...{ id: null, source: 'git', upstreamId: first, downstreamId: second },
    });
    const drawn = graph.nodes.find((node) => node.id === second);
    expect(drawn).to.include({ name: 'second', isDraft: false, managedBy: 'git' });
    expect(drawn?.gate.map(({ point }) => point)).to.deep.equal(['git', 'accepted', 'delivered', 'running']);
  });

  it('make the same number of statements for few and for many', async () => {
    const pipelineId = await draft();
    const all = async () => {
      const roles = { [teams.ours.teamId]: 'VIEWER' } as const;
      const counted: Record<string, number> = {};
      for (const operation of Object.values(pipelineDependencyOperations)) {
        if (operation.kind === 'mutation') continue;
        const { properties } = operation.input;
        const input = {
          ...('pipelineId' in properties ? { pipelineId } : {}),
          ...('environmentId' in properties ? { environmentId } : {}),
        };
        counted[operation.name] = await countStatements(test, roles, operation, input);
      }
      return counted;
    };
    const before = await all();
    await test.db.raw(
      `INSERT INTO pipelines (id, environment_id, name) SELECT 'm-' || n, ?, 'm ' || n FROM generate_series(1, 200) n`,
      [environmentId],
    );
    await test.db.raw(
      `INSERT INTO pipeline_dependencies (id, upstream_id, downstream_id)
       SELECT 'u-' || n, 'm-' || n, :id FROM generate_series(1, 100) n
       UNION ALL SELECT 'd-' || n, :id, 'm-' || n FROM generate_series(101, 200) n`,
      { id: pipelineId },
    );
    expect(await all()).to.deep.equal(before);
    expect(Object.keys(before)).to.have.length(5);
    await test.db('pipelines').where('id', 'like', 'm-%').delete();
  });

  it('leave out what was deleted, and are back with it', async () => {
    const [up, down] = (await drafts(2)) as [string, string];
    await add(up, down);
    await teams.editor.mutate('pipeline.delete', { id: up });
    expect(await of('list', down)).to.deep.equal([]);
    await teams.editor.mutate('pipeline.restore', { id: up });
    expect((await of('list', down)).map(({ upstreamId }) => upstreamId)).to.deep.equal([up]);
  });

  it('are closed to no circle by a pipeline that comes back', async () => {
    const [first, middle, last] = (await drafts(3)) as [string, string, string];
    await add(first, middle);
    await add(middle, last);
    await teams.editor.mutate('pipeline.delete', { id: middle });
    const { id } = await add(last, first);
    const back = () => teams.editor.call('mutation', 'pipeline.restore', { id: middle });
    const { status, fault } = await back();
    expect(status).to.equal(409);
    expect(fault?.message).to.match(/which meanwhile depends on it \(draft .* → draft .* → draft .*\)/);
    await teams.editor.mutate('pipelineDependency.remove', { id });
    expect((await back()).status).to.equal(200);
  });

  it('leave the names of both ends in the audit log', async () => {
    const [up, down] = [await draft('audited up'), await draft('audited down')];
    const { id } = await add(up, down);
    await teams.editor.mutate('pipelineDependency.remove', { id });
    const rows = await test.db('audit_log').where({ entity_id: id }).orderBy('id');
    expect(rows.map(({ action, metadata }) => [action, metadata])).to.deep.equal([
      ['pipelineDependency.added', { upstream: 'audited up', downstream: 'audited down' }],
      ['pipelineDependency.removed', { upstream: 'audited up', downstream: 'audited down' }],
    ]);
  });
});
