import { expect } from 'chai';
import { git } from '../../support/clients/fast-import.ts';
import { makeKey, restClient } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { type GitBindingScene, useGitBinding } from '../../support/scenes/git-binding.ts';
import { refusal, useTestEnvironments } from '../../support/scenes/places.ts';

const PIPELINE = `# Owned by the platform team
apiVersion: headgate/v1
kind: Pipeline
metadata:
    name:   orders   # two blanks too many
    labels: { team: 'payments' }
spec:
    description: "Orders, as they come" # why
    # what comes in
    sources:
        app: { type: demo_logs, format: json, interval: 5 }
    transforms:
        parse:
            type: remap
            inputs: [ app ]
            source: |
                # first
                .level = "info"

                .kept = true
    sinks:
        out: { type: console, inputs: [parse], encoding: { codec: json } }
    tests:
        - { name: t, component: parse, input: {}, expect: '.level == "info"' }
`;
const RULES = `---
apiVersion: headgate/v1
kind: AlertRule
metadata: { name: errors }
spec: { pipelineRef: orders, metric: error_rate, condition: gt, threshold: 10 } # per second
---
apiVersion: headgate/v1
kind: AlertRule
metadata: { name: "disk" }
spec: {metric: disk_usage, condition: gt, threshold: 90}
`;
const GROUP = `apiVersion: headgate/v1
kind: NodeGroup
metadata: { name: edge }
x-parts:   { who:   &who { role: edge } } # two blanks too many
spec:
  criteria: *who
`;
const INCLUDING = `apiVersion: headgate/v1
kind: Pipeline
metadata: { name: included }
spec:
  deployed: false
  values: { port: 8080, host: example.org }
  sources:
    in: { type: http_server, address: "0.0.0.0:\${value.port}" }
  transforms:
    own: { type: remap, inputs: [in], source: { $file: ../vrl/own.vrl } }
    both: { type: remap, inputs: [own], source: { $file: ../../../shared/both.vrl } }
    all: { type: remap, inputs: ["ow*", "b*"], source: . }
  sinks:
    out: { type: console, inputs: [all], encoding: { codec: json } }
`;
const FILES = {
  'pipelines/orders.yaml': PIPELINE,
  'alerts/rules.yaml': RULES,
  'node-groups/edge.yaml': GROUP,
  'pipelines/included.yaml': INCLUDING,
  'vrl/own.vrl': '.a = 1\r\n.b = 2\r\n',
  '/shared/both.vrl': '.c = 3\n',
  '/environments/other/pipelines/x.yaml': INCLUDING.replace(
    '../vrl/own.vrl',
    '../../../shared/both.vrl',
  ).replace('name: included', 'name: x'),
};

interface Became {
  committed: { sha: string; path: string; line: number };
  proposed: { number: number; url: string; branch: string };
}

/** Lines that the last commit takes away and puts in. */
const changed = (place: GitBindingScene, sha = 'main') =>
  git(place.gitdir, 'show', '--format=', '--unified=0', sha)
    .split('\n')
    .filter((line) => /^[-+](?![-+])/.test(line));

describe('changes by hand of what git describes', () => {
  const test = useController();
  const places = useTestEnvironments(test);

  describe('where nothing else is said', () => {
    const place = useGitBinding(test, places, FILES);

    it('are refused with path and line where nothing else is said', async () => {
      const id = await place.idOf('alert_rules', 'errors');
      expect(await refusal(place.editor, 'mutation', 'alert.updateRule', { id, threshold: 11 })).to.equal(
        `PRECONDITION_FAILED: The alert rule "errors" is described in git (${place.folder}/alerts/rules.yaml:2); change it there and push, and it follows`,
      );
    });

    it('are exported by editors as they are', async () => {
      const { files } = await place.editor.query<{ files: { path: string; text: string }[] }>(
        'gitSync.export',
        { environmentId: place.environmentId, kinds: ['AlertRule'] },
      );
      expect(files.map(({ path }) => path)).to.deep.equal(['alerts/disk.yaml', 'alerts/errors.yaml']);
      expect(
        await refusal(place.viewer, 'query', 'gitSync.export', { environmentId: place.environmentId }),
      ).to.match(/^FORBIDDEN/);
    });

    it('are another thing than what is made by hand, which the UI owns until it is exported and committed', async () => {
      const { environmentId, teamId } = place;
      const pipeline = await place.editor.mutate<{ id: string; managedBy: string }>('pipeline.create', {
        environmentId,
        name: 'by hand',
      });
      const rule = await place.editor.mutate<{ id: string; managedBy: string }>('alert.createRule', {
        ...{ environmentId, teamId, name: 'by hand', metric: 'cpu_usage', condition: 'gt', threshold: 1 },
      });
      const group = await place.admin.mutate<{ id: string; managedBy: string }>('nodeGroup.create', {
        ...{ environmentId, name: 'by hand', criteria: { role: 'x' } },
      });
      expect([pipeline, rule, group].map(({ managedBy }) => managedBy)).to.deep.equal(['ui', 'ui', 'ui']);
      await place.apply({ 'alerts/more.yaml': RULES.replaceAll('name: ', 'name: more-') });
      expect(await place.idOf('pipelines', 'by hand')).to.equal(pipeline.id);
      expect(await place.idOf('node_groups', 'by hand')).to.equal(group.id);
      await place.editor.mutate('alert.updateRule', { id: rule.id, threshold: 2 });
      const { files } = await place.editor.query<{ files: { path: string; text: string }[] }>(
        'gitSync.export',
        { environmentId, kinds: ['AlertRule'] },
      );
      const text = files.find(({ path }) => path.startsWith('alerts/by'))?.text ?? '';
      await place.apply({ 'alerts/by-hand.yaml': text });
      expect(
        await refusal(place.editor, 'mutation', 'alert.updateRule', { id: rule.id, threshold: 3 }),
      ).to.match(/is described in git \(.*alerts\/by-hand\.yaml/);
    });
  });

  describe('where they are to be commits', () => {
    const place = useGitBinding(test, places, FILES);
    before(() => place.policy({ uiEdits: 'commit' }));

    it('become commits in the name of who made them, of the one line that was meant', async () => {
      const id = await place.idOf('alert_rules', 'errors');
      const before = place.head();
      const answer = await place.editor.mutate<Became>('alert.updateRule', { id, threshold: 11 });
      expect(answer.committed).to.deep.equal({
        sha: place.head(),
        path: `${place.folder}/alerts/rules.yaml`,
        line: 2,
      });
      expect(changed(place)).to.deep.equal([
        '-spec: { pipelineRef: orders, metric: error_rate, condition: gt, threshold: 10 } # per second',
        '+spec: { pipelineRef: orders, metric: error_rate, condition: gt, threshold: 11 } # per second',
      ]);
      expect(git(place.gitdir, 'log', '-1', '--format=%an <%ae>|%cn|%P|%B')).to.equal(
        `editor <editor@example.org>|Headgate|${before}|Change threshold of the alert rule errors\n\nHeadgate-Operation: alert.updateRule`,
      );
      await place.applied(answer.committed.sha);
      expect(await test.db('alert_rules').where({ id }).first('threshold')).to.deep.equal({ threshold: 11 });
      const audit = await test
        .db('audit_log')
        .where({ action: 'gitSync.committed', entity_id: id })
        .select('entity_id', 'user_email', 'commit_sha', 'metadata');
      expect(audit).to.deep.equal([
        {
          entity_id: id,
          user_email: 'editor@example.org',
          commit_sha: answer.committed.sha,
          metadata: {
            name: 'errors',
            operation: 'alert.updateRule',
            path: answer.committed.path,
            line: 2,
            fields: ['/spec/threshold'],
          },
        },
      ]);
      expect(
        await test.db('audit_log').where({ action: 'alertRule.updated', entity_id: id }).count(),
      ).to.deep.equal([{ count: 0 }]);
    });

    it('go into an included file that is the manifest’s alone, and are refused where others share it', async () => {
      const id = await place.idOf('pipelines', 'included');
      const { nodes, edges } = await place.editor.query<{
        nodes: { componentKey: string; config: object }[];
        edges: object[];
      }>('pipeline.get', { id });
      const saving = (key: string, config: object) => ({
        pipelineId: id,
        edges,
        nodes: nodes.map((node) =>
          node.componentKey === key ? { ...node, config: { ...node.config, ...config } } : node,
        ),
      });
      const { committed } = await place.editor.mutate<Became>(
        'pipeline.saveGraph',
        saving('own', { source: '.a = 1\n.b = 3\n' }),
      );
      expect(git(place.gitdir, 'diff', '--name-only', 'main~1', 'main')).to.equal(
        `${place.folder}/vrl/own.vrl`,
      );
      expect(place.read('vrl/own.vrl')).to.equal('.a = 1\r\n.b = 3');
      await place.applied(committed.sha);
      expect(
        await refusal(place.editor, 'mutation', 'pipeline.saveGraph', saving('both', { source: '.d = 1\n' })),
      ).to.match(/is read from shared\/both.vrl, which others include too: environments\//);
      expect(
        await refusal(
          place.editor,
          'mutation',
          'pipeline.saveGraph',
          saving('in', { address: '0.0.0.0:9999' }),
        ),
      ).to.match(/is written with \$\{value.port\}/);
      const fewer = edges.filter((edge) => (edge as { id: string }).id !== 'own>all');
      expect(
        await refusal(place.editor, 'mutation', 'pipeline.saveGraph', { ...saving('in', {}), edges: fewer }),
      ).to.match(/wildcards/);
      expect(
        await refusal(
          place.editor,
          'mutation',
          'pipeline.saveGraph',
          saving('in', { auth: { strategy: 'basic', password: 'hunter2' } }),
        ),
      ).to.match(/plain secret/);
    });

    it('rename with what refers to the name, and the object stays the same', async () => {
      const id = await place.idOf('pipelines', 'orders');
      const { committed } = await place.editor.mutate<Became>('pipeline.update', { id, name: 'sales' });
      await place.applied(committed.sha);
      expect(await place.idOf('pipelines', 'sales')).to.equal(id);
      expect(changed(place))
        .to.include('+    previousName: orders')
        .and.to.include('+    name:   sales   # two blanks too many');
      expect(place.read('alerts/rules.yaml')).to.contain('pipelineRef: sales, metric');
      const { importErrorCount } = await place.editor.query<{ importErrorCount: number }>('gitSync.status', {
        environmentId: place.environmentId,
      });
      expect(importErrorCount).to.equal(0);
    });

    it('undeploy, deploy and delete', async () => {
      const id = await place.idOf('pipelines', 'sales');
      const off = await place.editor.mutate<Became>('deploy.undeploy', { pipelineId: id });
      expect(changed(place)).to.deep.equal(['+    deployed: false']);
      await place.applied(off.committed.sha);
      expect(await test.db('pipelines').where({ id }).first('is_draft')).to.deep.equal({ is_draft: true });
      const on = await place.editor.mutate<Became>('deploy.agent', { pipelineId: id, changelog: 'back' });
      expect(changed(place)).to.deep.equal(['-    deployed: false', '+    deployed: true']);
      await place.applied(on.committed.sha);
      expect(await refusal(place.editor, 'mutation', 'pipeline.delete', { id })).to.match(
        /^PRECONDITION_FAILED: "sales" is named by the AlertRule "errors" \(environments\/env-\d+\/alerts\/rules.yaml:2\)/,
      );
      const rule = await place.idOf('alert_rules', 'errors');
      const gone = await place.editor.mutate<Became>('alert.deleteRule', { id: rule });
      await place.applied(gone.committed.sha);
      expect(place.read('alerts/rules.yaml')).to.equal(RULES.slice(RULES.indexOf('---\n', 3)).trim());
      const last = await place.editor.mutate<Became>('pipeline.delete', { id });
      await place.applied(last.committed.sha);
      expect(git(place.gitdir, 'ls-tree', '-r', '--name-only', `main:${place.folder}`)).not.to.contain(
        'orders.yaml',
      );
    });

    it('change a node group, and stay out of git where the policy is tightened there', async () => {
      const id = await place.idOf('node_groups', 'edge');
      const { committed } = await place.admin.mutate<Became>('nodeGroup.update', {
        id,
        labelTemplate: { ring: '1' },
      });
      expect(changed(place)).to.deep.equal(['+  labelTemplate:', '+    ring: "1"']);
      await place.applied(committed.sha);
      await place.apply({
        'environment.yaml':
          'apiVersion: headgate/v1\nkind: Environment\nmetadata: { name: staging }\nspec: { sync: { uiEdits: refuse } }\n',
      });
      expect(await refusal(place.admin, 'mutation', 'nodeGroup.delete', { id })).to.match(
        /is described in git/,
      );
    });
  });

  describe('where git holds something back, or is not applied', () => {
    const place = useGitBinding(test, places, FILES);
    before(() => place.policy({ uiEdits: 'commit' }));

    it('are answered with 202 to programs, once for an idempotent request', async () => {
      const pipelineId = await place.idOf('pipelines', 'orders');
      const { key, accountId } = await makeKey(place.admin, place.environmentId, ['pipelines.deploy']);
      const rest = restClient(test.url, key);
      const asked = { headers: { 'idempotency-key': 'once' } };
      const answer = await rest('POST', `/pipelines/${pipelineId}/undeploy`, asked);
      expect([answer.status, Object.keys(answer.json() as object)]).to.deep.equal([202, ['committed']]);
      const head = place.head();
      const again = await rest('POST', `/pipelines/${pipelineId}/undeploy`, asked);
      expect([again.status, again.text, place.head()]).to.deep.equal([202, answer.text, head]);
      expect(git(place.gitdir, 'log', '-1', '--format=%an <%ae>')).to.match(
        new RegExp(`<${accountId}@service-accounts\\.`),
      );
      await place.applied(head);
    });

    it('change a graph field by field, and nothing else of the file', async () => {
      const id = await place.idOf('pipelines', 'orders');
      const { nodes, edges } = await place.editor.query<{
        nodes: { componentKey: string; config: object }[];
        edges: object[];
      }>('pipeline.get', { id });
      const programs = nodes.map((node) =>
        node.componentKey === 'parse'
          ? { ...node, config: { source: '# first\n.level = "warn"\n\n.kept = true\n' } }
          : node,
      );
      const added = {
        id: 'late',
        componentKey: 'late',
        componentType: 'filter',
        kind: 'TRANSFORM',
        config: { condition: '.kept' },
        positionX: 10,
        positionY: 20,
        disabled: false,
      };
      const line = { sourceNodeId: 'parse', targetNodeId: 'late' };
      const { committed } = await place.editor.mutate<Became>('pipeline.saveGraph', {
        pipelineId: id,
        nodes: [...programs, added],
        edges: [...edges, line],
      });
      expect(changed(place)).to.deep.equal([
        '-                .level = "info"',
        '+                .level = "warn"',
        '+        late:',
        '+            type: filter',
        '+            inputs:',
        '+                - parse',
        '+            condition: .kept',
        '+    components:',
        '+        late:',
        '+            position:',
        '+                - 10',
        '+                - 20',
      ]);
      await place.applied(committed.sha);
      expect(place.read('pipelines/orders.yaml')).to.contain('name:   orders   # two blanks too many');
    });

    it('come to nothing where git holds back what it has now', async () => {
      const id = await place.idOf('alert_rules', 'errors');
      const manifest = await test
        .db('git_manifests')
        .where({ object_id: id })
        .first('binding_id', 'kind', 'name_key', 'seen_hash');
      await test.db('git_holds').insert({
        id: `hold-${id}`.slice(0, 26),
        binding_id: manifest.binding_id,
        kind: manifest.kind,
        name_key: manifest.name_key,
        spec_hash: manifest.seen_hash,
        reason: 'too loud',
        created_by: 'Ada',
      });
      expect(await refusal(place.editor, 'mutation', 'alert.updateRule', { id, threshold: 11 })).to.match(
        /is held \(Ada: too loud\)/,
      );
      await test.db('git_holds').delete();
    });

    it('are refused with both values where git has changed the same field since', async () => {
      const id = await place.idOf('alert_rules', 'errors');
      // By the API: a pass that has begun before it ends without effect.
      await place.editor.mutate('gitSync.suspend', {
        environmentId: place.environmentId,
        reason: 'the move',
      });
      const theirs = place.push({ 'alerts/rules.yaml': RULES.replace('threshold: 10', 'threshold: 20') });
      const answer = await place.editor.call('mutation', 'alert.updateRule', { id, threshold: 11 });
      expect(answer.status).to.equal(409);
      expect(answer.fault?.message).to.match(
        /\/spec\/threshold is 20 in git and 11 in your change\. What git has stays, and your change was not made;/,
      );
      expect(place.head()).to.equal(theirs);
      expect(
        await test.db('audit_log').where({ action: 'gitSync.conflict', entity_id: id }).count(),
      ).to.deep.equal([{ count: 1 }]);
      // Another field of the same file is nobody's conflict.
      const { committed } = await place.editor.mutate<Became>('alert.updateRule', { id, enabled: false });
      expect(place.read('alerts/rules.yaml', committed.sha)).to.contain('threshold: 20, enabled: false }');
    });

    it('are not kept in part: what one pipeline had beside is as it was', async () => {
      const id = await place.idOf('pipelines', 'orders');
      expect(
        await refusal(place.editor, 'mutation', 'pipeline.update', { id, description: 'x', groupId: null }),
      ).to.match(/groupId in a separate request/);
      const before = await test.db('pipelines').where({ id }).first();
      const revision = await test
        .db('environments')
        .where({ id: place.environmentId })
        .first('config_revision');
      await place.editor.mutate('pipeline.update', { id, description: 'x', labels: {} });
      await place.editor.mutate('pipeline.delete', { id: await place.idOf('pipelines', 'included') });
      expect(await test.db('pipelines').where({ id }).first()).to.deep.equal(before);
      expect(
        await test.db('environments').where({ id: place.environmentId }).first('config_revision'),
      ).to.deep.equal(revision);
      expect(await place.idOf('pipelines', 'included')).to.be.a('string');
      expect(changed(place, 'main~1')).to.deep.equal([
        "-    labels: { team: 'payments' }",
        '-    description: "Orders, as they come" # why',
        '+    description: "x" # why',
      ]);
    });
  });

  describe('where they are to be proposals', () => {
    const place = useGitBinding(test, places, FILES);
    before(() => place.policy({ uiEdits: 'propose' }));

    it('become proposals on a branch of their own, one a person and object', async () => {
      const id = await place.idOf('alert_rules', 'errors');
      const before = place.head();
      const first = await place.editor.mutate<Became>('alert.updateRule', { id, threshold: 11 });
      expect(first.proposed.number).to.equal(1);
      expect(first.proposed.branch).to.match(/^headgate\/alert-rule\/errors-[0-9a-z]{8}$/);
      expect(place.head()).to.equal(before);
      expect(await test.db('alert_rules').where({ id }).first('threshold')).to.deep.equal({ threshold: 10 });
      const second = await place.editor.mutate<Became>('alert.updateRule', { id, enabled: false });
      expect(second.proposed).to.deep.equal(first.proposed);
      const third = await place.editor.mutate<Became>('alert.updateRule', { id, threshold: 12 });
      expect(third.proposed).to.deep.equal(first.proposed);
      expect(place.read('alerts/rules.yaml', first.proposed.branch)).to.contain(
        'threshold: 12, enabled: false }',
      );
      const other = await place.admin.mutate<Became>('alert.updateRule', { id, threshold: 30 });
      expect(other.proposed.number).to.equal(2);
      const list = await place.viewer.query<
        { number: number; title: string; state: string; headSha: string }[]
      >('pullRequest.list', { environmentId: place.environmentId });
      expect(list.map(({ number, state, title }) => [number, state, title])).to.deep.equal([
        [2, 'open', 'Change threshold of the alert rule errors'],
        [1, 'open', 'Change threshold of the alert rule errors, and more'],
      ]);
      expect(list[1]?.headSha).to.equal(place.head(first.proposed.branch));
      // Merged past us: the next change is a new proposal.
      git(place.gitdir, 'update-ref', 'refs/heads/main', place.head(first.proposed.branch));
      await until(
        async () => (await test.db('alert_rules').where({ id }).first('threshold')).threshold === 12,
        { what: 'the merge was applied' },
      );
      const next = await place.editor.mutate<Became>('alert.updateRule', { id, threshold: 13 });
      expect(next.proposed.number).to.equal(3);
      expect(
        await place.viewer.query<object[]>('pullRequest.list', {
          environmentId: place.environmentId,
          state: 'merged',
        }),
      ).to.have.length(1);
    });

    it('go on where the proposal has renamed the object, and tell reviewers that it deletes it', async () => {
      const id = await place.idOf('pipelines', 'included');
      const { proposed } = await place.editor.mutate<Became>('pipeline.update', { id, name: 'second' });
      await place.editor.mutate('pipeline.update', { id, name: 'third' });
      const again = await place.editor.mutate<Became>('pipeline.update', { id, description: 'More' });
      expect(again.proposed).to.deep.equal(proposed);
      const text = place.read('pipelines/included.yaml', proposed.branch);
      expect(text).to.contain('name: third, previousName: included').and.contain('description: More');
      const titles = async () =>
        (
          await place.viewer.query<{ title: string; number: number }[]>('pullRequest.list', {
            environmentId: place.environmentId,
          })
        )
          // Of the other environments of the repository as well.
          .filter(({ number }) => number === proposed.number)
          .map(({ title }) => title);
      expect(await titles()).to.deep.equal(['Rename the pipeline included to second, and more']);
      await place.editor.mutate('pipeline.delete', { id });
      expect(await titles()).to.deep.equal(['Delete the pipeline included']);
    });
  });
});
