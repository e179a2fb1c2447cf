/** A plan that is asked for tells what a pass would do, and changes nothing: over real git, a real Postgres, real checks. */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { createPlanner, type Planner } from '../../../reconcilers/plan-view/index.ts';
import type { GitPlan, PlanFile, PlannedChange } from '../../../schemas/api/delivery/git-plan.ts';
import { GitPlan as GitPlanSchema } from '../../../schemas/api/delivery/git-plan.ts';
import { validator } from '../../../schemas/validate.ts';
import { fault } from '../../support/fixtures/fault-text.ts';
import { type BoundEnvironment, pathOf } from '../../support/scenes/bound-environment.ts';
import { PRODUCTION } from '../../support/scenes/config-repository.ts';
import { localRepositories } from '../../support/scenes/local-repositories.ts';
import { useReconcileScene } from '../../support/scenes/reconcile.ts';

const pipeline = (name: string, lines: string, more = '') => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name} }
spec:
${more}  sources:
    ticks: { type: demo_logs, format: shuffle, lines: [${lines}] }
  sinks:
    out: { type: blackhole, inputs: [ticks] }
`;
const rule = (name: string, spec: string) => `apiVersion: headgate/v1
kind: AlertRule
metadata: { name: ${name} }
spec: { ${spec} }
`;
const group = (name: string, spec: string) => `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: ${name} }
spec: { ${spec} }
`;

describe('a plan that is asked for', () => {
  const scene = useReconcileScene();
  let env: BoundEnvironment;
  let planner: Planner;

  beforeEach(async () => {
    env = await scene.environment();
    planner = createPlanner();
  });

  async function plan(asked: Parameters<Planner['plan']>[2] = {}, with_ = planner): Promise<GitPlan> {
    const repositories = localRepositories(env.repository.gitdir);
    const ctx = scene.context(env.id, { services: { ...scene.services, repositories } });
    const before = await env.fingerprint();
    const found = await with_.plan(ctx, await env.binding(), asked);
    expect(await env.fingerprint(), 'nothing was written').to.equal(before);
    expect(validator(GitPlanSchema).issues(JSON.parse(JSON.stringify(found)))).to.deep.equal([]);
    return found;
  }
  const named = (found: GitPlan, name: string): PlannedChange => {
    const change = found.changes.find((one) => one.name === name);
    if (!change) throw new Error(`no change of ${name}: ${JSON.stringify(found, null, 2)}`);
    return change;
  };
  async function node(id: string, labels: Record<string, string>, more: Record<string, unknown> = {}) {
    await scene.db('nodes').insert({
      ...{ id: `${env.id}-${id}`, environment_id: env.id, name: id, host: `${id}.example.org` },
      ui_labels: JSON.stringify(labels),
      token_hash: `${env.id}-${id}`,
      ...more,
    });
  }

  it('tells what is made, on which nodes it starts, and what it says', async () => {
    await node('a', { role: 'edge' });
    await node('b', { role: 'core' });
    env.commit({
      web: pipeline('web', 'x', '  nodeSelector: { role: edge }\n  logLevel: debug\n'),
      hot: rule('hot', 'metric: cpu_usage, condition: gt, threshold: 90'),
    });
    const found = await plan();
    expect(found).to.include({ state: 'ready', environmentName: 'env-1', ref: 'main', changesTotal: 2 });
    expect(found.commit?.subject).to.equal('change');
    expect(found.counts).to.include({ create: 2, unchanged: 0 });
    const web = named(found, 'web');
    expect(web).to.include({
      action: 'create',
      kind: 'Pipeline',
      path: pathOf('web'),
      line: 1,
      objectId: null,
    });
    expect(web.nodes).to.deep.equal({ count: 1, starts: 1, restarts: 0, stops: 0, hosts: ['a.example.org'] });
    expect(web.fields).to.deep.include({ pointer: '/nodeSelector', before: null, after: '{"role":"edge"}' });
    expect(web.engineDiff).to.include('+    type: demo_logs');
    expect(named(found, 'hot').fields).to.deep.include({ pointer: '/threshold', before: null, after: '90' });
    expect(found.nodes).to.include({ count: 1, starts: 1 });
    expect((await plan()).hash).to.equal(found.hash);
  });

  describe('where engines of nodes have reported their component types', () => {
    const digest = 'sha256:of-the-lists';
    async function engine(id: string, version: string, transforms: readonly string[]) {
      const lists = { sources: ['demo_logs'], transforms, sinks: ['blackhole'], enrichmentTables: [] };
      await scene
        .db('engine_components')
        .insert({
          environment_id: env.id,
          digest: `${digest} ${version}`,
          components: JSON.stringify(lists),
        })
        .onConflict()
        .ignore();
      await node(id, { role: id.slice(0, 4) });
      const at = new Date(scene.context(env.id).clock.now());
      await scene.db('node_presence').insert({ node_id: `${env.id}-${id}`, heard_at: at });
      await scene.db('node_reports').insert({
        node_id: `${env.id}-${id}`,
        reported_at: at,
        engine_version: `vector ${version} (x86_64-unknown-linux-gnu)`,
        engine_components: `${digest} ${version}`,
      });
    }
    const windowed = (name: string, more = '') => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name} }
spec:
${more}  sources:
    ticks: { type: demo_logs, format: shuffle, lines: [x] }
  transforms:
    w: { type: window, inputs: [ticks] }
  sinks:
    out: { type: blackhole, inputs: [w] }
`;

    it('warns of a type that some nodes lack, and refuses one that all lack', async () => {
      await engine('edge-1', '0.40.0', ['remap']);
      await engine('core-1', '0.57.0', ['remap', 'window']);
      env.commit({
        some: windowed('some'),
        all: windowed('all', '  nodeSelector: { role: edge }\n'),
        none: windowed('none', '  nodeSelector: { role: core }\n'),
      });
      const found = await plan();
      expect(named(found, 'some').notes.join()).to.include(
        '1 of 2 nodes lacks the transform type "window" of "w" (0.40.0; edge-1)',
      );
      expect(named(found, 'none').notes.join()).not.to.include('window');
      const problems = JSON.stringify(found);
      expect(problems).to.include(
        '1 of 1 node lacks the transform type \\"window\\" of \\"w\\" (0.40.0; edge-1)',
      );
    });
  });

  it('tells the fields and the engine config that differ from what was applied, whatever defaults say', async () => {
    await node('a', {});
    await env.apply({
      web: pipeline('web', 'x', '  values: { who: ada }\n  description: one\n'),
      hot: rule('hot', 'metric: cpu_usage, condition: gt, threshold: 90'),
      same: pipeline('same', 'y'),
    });
    env.commit({
      web: pipeline('web', 'z', '  values: { who: eve }\n  description: one\n  deployed: true\n'),
      hot: rule('hot', 'metric: cpu_usage, condition: gt, threshold: 80, durationSeconds: 60'),
    });
    const found = await plan();
    expect(found.counts).to.include({ update: 2, create: 0, unchanged: 1 });
    const web = named(found, 'web');
    expect(web.fields).to.deep.equal([
      { pointer: '/values/who', before: '"ada"', after: '"eve"' },
      { pointer: '/sources/ticks/lines', before: '["x"]', after: '["z"]' },
    ]);
    expect(web.engineDiff)
      .to.match(/^-\s+- x$/m)
      .and.match(/^\+\s+- z$/m);
    expect(web.nodes).to.deep.include({ count: 1, restarts: 1, starts: 0, stops: 0 });
    expect(web.notes).to.deep.equal([]);
    expect(named(found, 'hot').fields).to.deep.equal([{ pointer: '/threshold', before: '90', after: '80' }]);
  });

  it('tells a rename, a deletion, what is suspended, held and kept', async () => {
    await env.apply({
      old: pipeline('old', 'x').replace('name: old', 'name: old, uid: U1'),
      gone: pipeline('gone', 'x'),
      never: pipeline('never', 'x').replace(
        '{ name: never }',
        '{ name: never, annotations: { headgate/prune: never } }',
      ),
      asleep: pipeline('asleep', 'x'),
    });
    env.commit({
      old: pipeline('new', 'x').replace('name: new', 'name: new, uid: U1'),
      gone: null,
      never: null,
      asleep: pipeline('asleep', 'other', '  suspend: true\n'),
    });
    const found = await plan();
    expect(named(found, 'new')).to.include({ action: 'rename', renamedFrom: 'old' });
    expect(named(found, 'new').fields).to.deep.equal([
      { pointer: '/metadata/name', before: '"old"', after: '"new"' },
    ]);
    expect(named(found, 'gone')).to.include({ action: 'delete', path: pathOf('gone') });
    expect(named(found, 'never').reason?.code).to.equal('PruneRefused');
    expect(named(found, 'asleep').reason?.code).to.equal('Suspended');
    expect(found.changes.map(({ action }) => action)).to.deep.equal(['delete', 'rename', 'keep', 'keep']);
  });

  it('tells what is adopted, what is in conflict, and what is held', async () => {
    const insert = (id: string, name: string) =>
      scene.db('alert_rules').insert({
        ...{ id: `${env.id}-${id}`, environment_id: env.id, name, metric: 'cpu_usage', condition: 'gt' },
        ...{ threshold: 50, duration_seconds: 60, enabled: true },
      });
    await insert('mine', 'mine');
    await insert('other', 'other');
    const web = (lines: string) => pipeline('web', lines);
    await env.apply({ web: web('x') });
    const uid = `, uid: ${env.id}-mine }`;
    env.commit({
      web: web('y'),
      mine: rule('mine', 'metric: cpu_usage, condition: gt, threshold: 90').replace(
        'name: mine }',
        `name: mine${uid}`,
      ),
      other: rule('other', 'metric: cpu_usage, condition: gt, threshold: 90'),
    });
    const found = await plan();
    expect(named(found, 'mine')).to.include({ action: 'adopt', objectId: `${env.id}-mine` });
    expect(named(found, 'mine').fields).to.deep.equal([{ pointer: '/threshold', before: '50', after: '90' }]);
    expect(named(found, 'other')).to.include({ action: 'refuse' });
    expect(named(found, 'other').reason?.code).to.equal('Conflict');
    const { hash } = (await env.repository.read(found.commit?.sha ?? '')).manifests.find(
      ({ name }) => name === 'web',
    )!;
    await scene.db('git_holds').insert({
      ...{ id: `${env.id}-hold`, binding_id: env.bindingId, kind: 'Pipeline', name_key: 'web', name: 'web' },
      ...{ spec_hash: hash, reason: 'it floods the disk', created_by: 'Ada' },
    });
    const held = named(await plan(), 'web');
    expect(held.reason?.code).to.equal('Held');
    expect(held.reason?.message).to.include('Ada').and.include('it floods the disk');
  });

  it('says heal, with what somebody changed past git', async () => {
    await env.apply({ hot: rule('hot', 'metric: cpu_usage, condition: gt, threshold: 90') });
    await scene.db('alert_rules').where({ environment_id: env.id }).update({ threshold: 5 });
    const hot = named(await plan(), 'hot');
    expect(hot.action).to.equal('heal');
    expect(hot.fields).to.deep.equal([{ pointer: '/threshold', before: '5', after: '90' }]);
  });

  it('refuses what a pass would refuse, with its place, and counts the rest', async () => {
    await env.apply({ web: pipeline('web', 'x') });
    env.commit({
      web: pipeline('web', 'y'),
      broken: 'apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: broken }\nspec: { souces: {} }\n',
      dangling: rule('dangling', 'pipelineRef: wbe, metric: pipeline_crashed, condition: eq, threshold: 1'),
      secret: pipeline('secret', `"\${SVC_SECRET_NOT_THERE}"`),
      after: pipeline('after', 'x', '  dependsOn: [secret]\n'),
      'round-a': pipeline('round-a', 'x', '  dependsOn: [round-b]\n'),
      'round-b': pipeline('round-b', 'x', '  dependsOn: [round-a]\n'),
      junk: 'a: [\n',
    });
    const found = await plan();
    expect(found.state).to.equal('partial');
    expect(found.counts).to.include({ update: 1, refuse: 6 });
    expect(named(found, 'broken').findings[0]).to.include({
      stage: 'schema',
      path: pathOf('broken'),
      line: 4,
    });
    expect(named(found, 'dangling').findings[0]).to.include({
      stage: 'references',
      hint: 'did you mean "web"?',
    });
    expect(named(found, 'secret').reason?.code).to.equal('Invalid');
    expect(named(found, 'after').reason).to.include({ code: 'Blocked' });
    expect(named(found, 'round-b').reason?.message)
      .to.include(`round-a (${pathOf('round-a')}:`)
      .and.include(`round-b (${pathOf('round-b')}:`);
    expect(found.findings.map(({ path, stage }) => `${stage} ${path}`)).to.deep.equal([
      `parse ${pathOf('junk')}`,
    ]);
    expect(found.fleet).to.deep.include({
      type: 'missing-secret',
      severity: 'error',
      message: 'the secret behind $' + '{SVC_SECRET_NOT_THERE} does not exist in this environment',
      pipelines: ['secret'],
      hosts: [],
    });
  });

  it('waits where a guard says so, and is approved by its hash alone', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`p${index}`, pipeline(`p${index}`, 'x')]),
    );
    await env.apply({ ...many, stays: pipeline('stays', 'x') });
    env.commit(Object.fromEntries(Object.keys(many).map((name) => [name, null])));
    const found = await plan();
    expect(found).to.include({ state: 'waiting', approval: null });
    expect(found.counts.delete).to.equal(12);
    expect(found.guards.find(({ guard }) => guard === 'maxDeletes')).to.include({
      exceeded: true,
      limit: 10,
      value: 12,
    });
    await scene
      .db('git_approvals')
      .insert({ binding_id: env.bindingId, plan_hash: found.hash, approved_by: 'Ada' });
    const approved = await plan();
    expect(approved).to.include({ state: 'approved', hash: found.hash });
    expect(approved.approval?.by).to.equal('Ada');
  });

  it('shows what changes of the policy, and that it holds from the next commit on', async () => {
    const policy = (guards: string) =>
      env.repository.commit({
        [`${PRODUCTION.path}/environment.yaml`]: `apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: production }\nspec: { guards: ${guards} }\n`,
      });
    await env.apply({ web: pipeline('web', 'x') });
    policy('{ maxDeletes: 5 }');
    const made = await plan();
    expect(made).to.include({ state: 'ready' });
    expect(made.counts.create).to.equal(1);
    expect(named(made, 'production')).to.deep.include({
      action: 'create',
      kind: 'Environment',
      notes: ['it holds from the next commit on', 'Tightens guards.maxDeletes to 5'],
      fields: [{ pointer: '/guards', before: null, after: '{"maxDeletes":5}' }],
    });
    await env.pass();
    expect(await plan()).to.include({ state: 'empty' });
    policy('{ maxDeletes: 50 }');
    expect(named(await plan(), 'production')).to.deep.include({
      action: 'update',
      fields: [{ pointer: '/guards/maxDeletes', before: '5', after: '50' }],
      notes: [
        'it holds from the next commit on',
        'Tightens nothing: the binding is as strict already. Ignored, since it would widen what the binding allows: guards.maxDeletes: 50',
      ],
    });
    await env.pass();
    policy('{ maxDeletes: 5 }, autoRevert: false');
    expect(named(await plan(), 'production')?.notes?.[1]).to.equal(
      'Tightens guards.maxDeletes to 5. A version that does not run on a node stays there, unless its manifest says otherwise',
    );
    await env.pass();
    env.repository.commit({ [`${PRODUCTION.path}/environment.yaml`]: null });
    expect(named(await plan(), 'production')).to.include({ action: 'delete' });
    await env.pass();
    expect(await plan()).to.include({ state: 'empty', changesTotal: 0 });
  });

  it('has the hash of the plan that the pass makes, and foretells what that does', async () => {
    await env.apply({ web: pipeline('web', 'x'), old: pipeline('old', 'x'), same: pipeline('same', 'x') });
    env.commit({
      web: pipeline('web', 'y'),
      old: null,
      new: pipeline('new', 'x'),
      hot: rule('hot', 'metric: cpu_usage, condition: gt, threshold: 90'),
    });
    const sound = await plan();
    const done = await env.pass();
    const { counts } = done;
    expect([counts.created, counts.changed, counts.deleted, counts.unchanged]).to.deep.equal([
      sound.counts.create,
      sound.counts.update,
      sound.counts.delete,
      sound.counts.unchanged,
    ]);
    const [job] = await scene
      .db('git_jobs')
      .where({ binding_id: env.bindingId })
      .orderBy('finished_at', 'desc')
      .limit(1)
      .select('plan_hash');
    expect(job.plan_hash).to.equal(sound.hash);
    expect((await plan()).state).to.equal('empty');
    env.commit({ web: pipeline('web', '"$' + '{SVC_SECRET_NONE}"'), new: pipeline('new', 'z'), same: null });
    const partial = await plan();
    const { counts: then } = await env.pass();
    expect([then.changed, then.refused, then.deleted]).to.deep.equal([1, 1, 0]);
    expect([partial.counts.update, partial.counts.refuse, partial.counts.delete]).to.deep.equal([1, 1, 0]);
  });

  it('waits under the very hash that the pass waits with', async () => {
    await scene
      .db('git_bindings')
      .where({ id: env.bindingId })
      .update({ policy: JSON.stringify({ maxDeletes: 0 }) });
    await env.apply({ web: pipeline('web', 'x'), stays: pipeline('stays', 'x') });
    env.commit({ web: null });
    const found = await plan();
    await env.pass();
    expect(found.state).to.equal('waiting');
    expect((await env.binding()).waitingPlan?.hash).to.equal(found.hash);
  });

  it('is not applied where the binding only observes', async () => {
    env = await scene.environment('observe');
    env.commit({ web: pipeline('web', 'x') });
    expect((await plan()).state).to.equal('not-applied');
  });

  it('plans another branch, a tag, a commit and its beginning', async () => {
    await env.apply({ web: pipeline('web', 'x') });
    env.repository.git('branch', 'feature', 'main');
    const sha = env.commit({ other: pipeline('other', 'x') }, { branch: 'feature' });
    env.repository.git(
      '-c',
      'user.name=Ada',
      '-c',
      'user.email=ada@example.org',
      'tag',
      '-m',
      'one',
      'v1',
      sha,
    );
    expect((await plan()).state).to.equal('empty');
    for (const ref of ['feature', 'refs/heads/feature', 'v1', sha, sha.slice(0, 8)]) {
      const found = await plan({ ref });
      expect([found.commit?.sha, found.counts.create, found.ref], ref).to.deep.equal([sha, 1, ref]);
    }
    for (const ref of ['nope', 'deadbeef', '-x', '../x'])
      expect(await fault(plan({ ref })), ref).to.equal('BAD_REQUEST');
  });

  it('plans files at hand by the same rules, and leaves nothing of them', async () => {
    await env.apply({ web: pipeline('web', 'x'), old: pipeline('old', 'x') });
    const files: PlanFile[] = [
      { path: pathOf('web'), text: pipeline('web', 'y') },
      { path: 'environments/production/pipelines/link.yaml', text: '/etc/passwd', link: true },
      { path: 'README.md', text: 'not read' },
    ];
    const found = await plan({ files });
    expect(found.commit).to.equal(null);
    expect(found.ref).to.equal(null);
    expect(named(found, 'web').fields).to.deep.equal([
      { pointer: '/sources/ticks/lines', before: '["x"]', after: '["y"]' },
    ]);
    expect(found.findings[0]?.message).to.include('symbolic link');
    // A link in the tree is a fault, and nothing is deleted while something is wrong.
    expect(named(found, 'old')).to.deep.include({ action: 'keep' });
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('headgate-scratch-'));
    const before = left();
    const sound = await plan({ files: files.slice(0, 1) });
    expect(left().filter((name) => !before.includes(name))).to.deep.equal([]);
    expect(named(sound, 'old')).to.include({ action: 'delete' });
  });

  it('refuses files that are no tree, and too much of them', async () => {
    const bad: PlanFile[][] = [
      [{ path: '../x.yaml', text: '' }],
      [{ path: '/x.yaml', text: '' }],
      [{ path: 'a/.git/config', text: '' }],
      [
        { path: 'a', text: '' },
        { path: 'a/b', text: '' },
      ],
      [
        { path: 'a', text: '' },
        { path: 'a', text: '' },
      ],
    ];
    for (const files of bad)
      expect(await fault(plan({ files })), JSON.stringify(files)).to.equal('BAD_REQUEST');
    const large = Array.from({ length: 9 }, (_, index) => ({
      path: `${index}`,
      text: 'x'.repeat(1024 * 1024),
    }));
    expect(await fault(plan({ files: large }))).to.equal('PAYLOAD_TOO_LARGE');
    expect(await fault(plan({ files: [], ref: 'main' }))).to.equal('BAD_REQUEST');
  });

  it('says what is wrong with the repository, and gives up in time', async () => {
    expect(await fault(plan())).to.equal('PRECONDITION_FAILED');
    env.commit({ web: pipeline('web', 'x') });
    expect(await fault(plan({}, createPlanner({ deadlineMs: 0 })))).to.equal('UNAVAILABLE');
  });

  it('tells what clashes on a node, and selectors that match nothing', async () => {
    await node('a', { role: 'edge' });
    const listening = (name: string, address: string, dir: string) => `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: ${name} }
spec:
  sources:
    web: { type: http_server, address: "${address}" }
    tail: { type: file, include: [/var/log/a.log], data_dir: ${dir} }
  sinks:
    out: { type: blackhole, inputs: [web, tail] }
`;
    await env.apply({ one: listening('one', '0.0.0.0:8080', '/var/lib/one') });
    env.commit({
      two: listening('two', '127.0.0.1:8080', '/var/lib/one/'),
      three: listening('three', '0.0.0.0:8690', '/var/lib/three'),
      far: pipeline('far', 'x', '  nodeSelector: { role: moon }\n'),
    });
    const { fleet } = await plan();
    const told = fleet.map(
      ({ type, pipelines, hosts }) => `${type} ${[...pipelines].sort().join('+')} ${hosts.join()}`,
    );
    expect(told).to.have.members([
      'port-clash one+two a.example.org',
      'port-clash three a.example.org',
      'data-dir-clash one+two a.example.org',
      'selector-matches-nothing far ',
    ]);
    expect(fleet.every(({ severity }) => severity === 'warning')).to.equal(true);
  });

  it('tells nodes of one host apart by their names', async () => {
    await node('a', {}, { host: 'vm', enrolled_at: new Date() });
    await node('b', {}, { host: 'vm', enrolled_at: new Date() });
    await node('c', {});
    env.commit({ web: pipeline('web', 'x') });
    expect(named(await plan(), 'web').nodes?.hosts).to.deep.equal(['a', 'b', 'c.example.org']);
  });

  it('foretells what the labels of a group move', async () => {
    await node('a', { role: 'edge' });
    await node('b', { role: 'core' });
    await env.apply({ web: pipeline('web', 'x', '  nodeSelector: { ring: "1" }\n') });
    env.commit({ g: group('edge', 'criteria: { role: edge }, labelTemplate: { ring: "1" }') });
    const found = await plan();
    expect(named(found, 'edge').nodes).to.deep.equal({
      ...{ count: 1, starts: 1, restarts: 0, stops: 0 },
      hosts: ['a.example.org'],
    });
    expect(found.nodes.count).to.equal(1);
  });

  it('blanks what looks like a credential', async () => {
    const keyed = (key: string) =>
      pipeline('web', 'x').replace(
        'type: blackhole',
        `type: http, uri: "http://x/", request: { headers: { X-Trace: "${key}" } }`,
      );
    await env.apply({ web: keyed('one') });
    env.commit({ web: keyed('two').replace('X-Trace', 'X-Api-Key') });
    const text = JSON.stringify(await plan());
    expect(text).to.include('X-Api-Key').and.not.include('"two"');
  });
});
