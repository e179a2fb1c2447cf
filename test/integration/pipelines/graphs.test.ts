/** The graph that people draw: saved, rendered while it is drawn, read from YAML, and shared between pipelines. */
import { expect } from 'chai';
import type { GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import type { Pipeline } from '../../../schemas/api/pipelines/pipelines.ts';
import type { SharedComponent } from '../../../schemas/api/pipelines/shared-components.ts';
import { component, drawPipeline, edge, soundGraph } from '../../support/fixtures/graphs.ts';
import { useController, useRoot } from '../../support/harness/controller.ts';
import { testEnvironment } from '../../support/scenes/two-teams.ts';
import { expectRefused } from '../../support/users/person.ts';

describe('drawing', () => {
  const test = useController();
  const root = useRoot(test);
  let environmentId: string;

  before(async () => {
    ({ environmentId } = await testEnvironment(root));
  });

  const draw = (graph?: Parameters<typeof drawPipeline>[2]) => drawPipeline(root, environmentId, graph);
  const get = (id: string) => root.query<Pipeline>('pipeline.get', { id });
  const save = (pipelineId: string, more: object) =>
    root.call<{ graphRevision: number }>('mutation', 'pipeline.saveGraph', { pipelineId, ...more });

  describe('the graph of a pipeline', () => {
    it('is not saved over what somebody else has saved since it was opened', async () => {
      const { id, graphRevision } = await draw();
      const first = await save(id, { ...soundGraph('.a = 1'), graphRevision });
      expect(first.output?.graphRevision).to.equal(graphRevision + 1);
      expectRefused(
        await save(id, { ...soundGraph('.a = 2'), graphRevision }),
        409,
        /Somebody has saved this graph since you opened it/,
      );
      const many = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          save(id, { ...soundGraph(`.a = ${index + 10}`), graphRevision: graphRevision + 1 }),
        ),
      );
      expect(many.map(({ status }) => status).sort()).to.deep.equal([200, ...Array(9).fill(409)]);
    });

    it('is the same one when the same is saved again', async () => {
      const { id, nodes, graphRevision } = await draw();
      const edges = (await get(id)).edges;
      expect((await save(id, { nodes, edges })).output?.graphRevision).to.equal(graphRevision);
    });

    it('keeps its globals unless they are named, and holds no sections of components there', async () => {
      const { id } = await draw({ ...soundGraph(), globalConfig: { timezone: 'local' } });
      await save(id, soundGraph('.b = 1'));
      expect((await get(id)).globalConfig).to.deep.equal({ timezone: 'local' });
      const { status, fault } = await save(id, { ...soundGraph(), globalConfig: { sources: {} } });
      expect(status).to.equal(400);
      expect(fault?.message).to.match(/globalConfig contains "sources"/);
    });

    it('has bounds: components, edges, bytes, depth', async () => {
      const { id } = await draw();
      const many = Array.from({ length: 501 }, (_, index) => component(`s${index}`, 'demo_logs', 'SOURCE'));
      expect((await save(id, { nodes: many, edges: [] })).status).to.equal(400);
      const large = component('large', 'demo_logs', 'SOURCE', { lines: ['x'.repeat(1_100_000)] });
      const { status, fault } = await save(id, { nodes: [large], edges: [] });
      expect(status).to.equal(400);
      expect(fault?.message).to.match(/the limit is 1048576; split the pipeline/);
      let deep: unknown = 1;
      for (let level = 0; level < 200; level += 1) deep = { deep };
      expect(
        (await save(id, { nodes: [component('deep', 'file', 'SOURCE', { deep })], edges: [] })).status,
      ).to.equal(400);
    });

    it('is rendered and checked before it is saved, and stays unsaved', async () => {
      const { id, graphRevision } = await draw();
      const input = { pipelineId: id, ...soundGraph('.a = nonsense(') };
      const { output } = await root.call<{ configYaml: string; valid: boolean; validationErrors: object[] }>(
        'mutation',
        'pipeline.renderGraph',
        input,
      );
      expect(output?.configYaml).to.match(/^sources:\n {2}lines:/);
      expect(output?.valid).to.equal(false);
      expect(output?.validationErrors[0]).to.include({ componentKey: 'mark', level: 'vrl' });
      expect((await get(id)).graphRevision).to.equal(graphRevision);
    });

    it('is read from an engine config on top of what is drawn', async () => {
      const { id, nodes } = await draw();
      const { edges } = await get(id);
      const drawn = nodes.map((node) => ({ ...node, positionX: 7 }));
      const input = {
        pipelineId: id,
        configYaml:
          'sources: { lines: { type: demo_logs, format: syslog } }\nsinks: { out: { type: console, inputs: [lines] } }',
        graph: { nodes: drawn, edges },
      };
      const { output } = await root.call<{ nodes: GraphNode[] }>('mutation', 'pipeline.readYaml', input);
      expect(
        output?.nodes.map(({ componentKey, componentType, positionX }) => [
          componentKey,
          componentType,
          positionX,
        ]),
      ).to.deep.equal([
        ['lines', 'demo_logs', 7],
        ['out', 'console', 7],
      ]);
    });
  });

  describe('an engine config by itself', () => {
    const validate = (yaml: string, more: object = {}) =>
      root.mutate<{ valid: boolean; errors: Record<string, unknown>[]; levels: object[] }>(
        'validator.validate',
        {
          yaml,
          ...more,
        },
      );

    it('is checked in levels, each error with component, line and column', async () => {
      const sound = 'sources:\n  in: { type: demo_logs }\nsinks:\n  out: { type: blackhole, inputs: [in] }\n';
      expect((await validate(sound)).valid).to.equal(true);
      for (const [yaml, expected] of [
        ['sources: [', { level: 'structure', line: 1 }],
        [
          'sources:\n  svc_in: { type: demo_logs }\n',
          { level: 'structure', line: 2, componentKey: 'svc_in' },
        ],
        [sound.replace('[in]', '[inn]'), { level: 'references', line: 4, componentKey: 'out' }],
        [
          `${sound}transforms:\n  t:\n    type: remap\n    inputs: [in]\n    source: |\n      .a = 1\n      .b =\n`,
          { level: 'vrl', componentKey: 't' },
        ],
        [`${sound}proxy:\n  http: "$NOT_THERE"\n`, { level: 'secrets', line: 6 }],
      ] as const) {
        const { valid, errors } = await validate(yaml);
        expect(valid, yaml).to.equal(false);
        expect(errors[0], yaml).to.deep.include(expected);
        expect(errors[0]?.line, yaml).to.be.a('number');
        expect(errors[0]?.column, yaml).to.be.a('number');
      }
    });

    it('may name any secret, but in an environment only those that it has', async () => {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder as it is written
      const secret = '${SVC_SECRET_NONE}';
      const yaml = `sources: { in: { type: demo_logs, lines: ["${secret}"] } }\nsinks: { out: { type: blackhole, inputs: [in] } }`;
      expect((await validate(yaml)).valid).to.equal(true);
      const { errors } = await validate(yaml, { environmentId });
      expect(errors[0]).to.include({ level: 'secrets', componentKey: 'in', line: 1 });
    });
  });

  describe('a shared component', () => {
    const create = (name: string, config: object = { format: 'json' }) =>
      root.mutate<SharedComponent>('sharedComponent.create', {
        environmentId,
        name,
        componentType: 'demo_logs',
        kind: 'SOURCE',
        config,
      });
    const shared = (id: string) =>
      root.query<SharedComponent>('sharedComponent.getById', { id, environmentId });
    const update = (id: string, change: object) =>
      root.mutate<SharedComponent>('sharedComponent.update', { id, environmentId, ...change });
    const lines = async (pipelineId: string) =>
      (await get(pipelineId)).nodes.find(({ componentKey }) => componentKey === 'lines') as GraphNode & {
        id: string;
      };

    /** A pipeline whose source is linked to it. */
    async function linked(component: SharedComponent) {
      const { id: pipelineId } = await draw();
      const { id: nodeId } = await lines(pipelineId);
      await root.mutate('sharedComponent.linkExisting', {
        pipelineId,
        nodeId,
        sharedComponentId: component.id,
      });
      return { pipelineId, nodeId };
    }

    it('gets another version by another config only', async () => {
      const { id, version } = await create('versions');
      expect(version).to.equal(1);
      expect((await update(id, { name: 'renamed', description: 'why' })).version).to.equal(1);
      expect((await update(id, { config: { format: 'json' } })).version).to.equal(1);
      expect((await update(id, { config: { format: 'syslog' } })).version).to.equal(2);
    });

    it('gives its config to a component that is linked to it, and a newer one once that is accepted', async () => {
      const of = await create('to link', { format: 'syslog' });
      const one = await linked(of);
      expect(await lines(one.pipelineId)).to.deep.include({
        config: { format: 'syslog' },
        sharedComponentId: of.id,
        sharedComponentVersion: 1,
      });
      const { usedBy } = await shared(of.id);
      expect(usedBy.map(({ pipelineId, version }) => [pipelineId, version])).to.deep.equal([
        [one.pipelineId, 1],
      ]);
      await update(of.id, { config: { format: 'json', interval: 2 } });
      expect((await lines(one.pipelineId)).config).to.deep.equal({ format: 'syslog' });
      await root.mutate('sharedComponent.acceptUpdate', one);
      expect(await lines(one.pipelineId)).to.deep.include({
        config: { format: 'json', interval: 2 },
        sharedComponentVersion: 2,
      });
    });

    it('is accepted by all components of a pipeline at once', async () => {
      const of = await create('in bulk');
      const { pipelineId } = await draw({
        nodes: [
          component('a', 'demo_logs', 'SOURCE', {}, { id: 'a' }),
          component('b', 'demo_logs', 'SOURCE', {}, { id: 'b' }),
          component('out', 'blackhole', 'SINK'),
        ],
        edges: [edge('a', 'out'), edge('b', 'out')],
      }).then(({ id }) => ({ pipelineId: id }));
      for (const nodeId of ['a', 'b'])
        await root.mutate('sharedComponent.linkExisting', { pipelineId, nodeId, sharedComponentId: of.id });
      await update(of.id, { config: { format: 'apache_common' } });
      const bulk = () =>
        root.mutate<{ accepted: number }>('sharedComponent.acceptUpdateBulk', { pipelineId });
      expect((await bulk()).accepted).to.equal(2);
      expect((await bulk()).accepted).to.equal(0);
      const { nodes } = await get(pipelineId);
      expect(nodes.filter(({ sharedComponentVersion }) => sharedComponentVersion === 2)).to.have.length(2);
    });

    it('does not change under a pipeline that is saved: linked configs are changed at their source, or after unlinking', async () => {
      const of = await create('guarded');
      const one = await linked(of);
      const { nodes, edges } = await get(one.pipelineId);
      expect((await save(one.pipelineId, { nodes, edges })).status).to.equal(200);
      const changed = nodes.map((node) =>
        node.id === one.nodeId ? { ...node, config: { format: 'syslog' } } : node,
      );
      const { status, fault } = await save(one.pipelineId, { nodes: changed, edges });
      expect(status).to.equal(400);
      expect(fault?.message).to.match(/change it there, or unlink it first/);
      await root.mutate('sharedComponent.unlink', one);
      const free = await lines(one.pipelineId);
      expect(free).not.to.have.property('sharedComponentId');
      expect(free.config).to.deep.equal({ format: 'json' });
      const forged = nodes.map((node) =>
        node.id === one.nodeId ? { ...node, sharedComponentId: 'not there' } : node,
      );
      expect((await save(one.pipelineId, { nodes: forged, edges })).status).to.equal(400);
    });

    it('is made of a component that is there, which is linked from then on', async () => {
      const { id: pipelineId } = await draw();
      const { id: nodeId } = await lines(pipelineId);
      const input = { pipelineId, nodeId, environmentId, name: 'from a component' };
      const made = await root.mutate<SharedComponent>('sharedComponent.createFromNode', input);
      expect(made).to.deep.include({
        componentType: 'demo_logs',
        kind: 'SOURCE',
        config: { format: 'json' },
      });
      expect(await lines(pipelineId)).to.include({ sharedComponentId: made.id, sharedComponentVersion: 1 });
      const again = await root.call('mutation', 'sharedComponent.createFromNode', {
        ...input,
        name: 'again',
      });
      expect(again.status).to.equal(412);
    });

    it('is linked to components of its own kind and type only', async () => {
      const of = await create('picky');
      const { id: pipelineId, nodes } = await draw();
      for (const key of ['mark', 'out']) {
        const nodeId = nodes.find(({ componentKey }) => componentKey === key)?.id;
        const input = { pipelineId, nodeId, sharedComponentId: of.id };
        expectRefused(
          await root.call('mutation', 'sharedComponent.linkExisting', input),
          400,
          /link components of one type/,
        );
      }
    });

    it('leaves its config to those who were linked to it when it is deleted', async () => {
      const of = await create('to delete', { format: 'syslog' });
      const [one, two] = [await linked(of), await linked(of)];
      const answer = await root.mutate<{ unlinked: number }>('sharedComponent.delete', {
        id: of.id,
        environmentId,
      });
      expect(answer.unlinked).to.equal(2);
      for (const { pipelineId } of [one, two]) {
        const node = await lines(pipelineId);
        expect(node.config).to.deep.equal({ format: 'syslog' });
        expect(node).not.to.have.property('sharedComponentId');
      }
    });

    it('is linked to by nothing that comes back after it was deleted', async () => {
      const of = await create('to miss', { format: 'json' });
      const [kept, deleted] = [await linked(of), await linked(of)];
      const { versionId } = await root.mutate<{ versionId: string }>('deploy.agent', {
        pipelineId: kept.pipelineId,
        changelog: 'linked',
      });
      await root.mutate('pipeline.delete', { id: deleted.pipelineId });
      await root.mutate('sharedComponent.delete', { id: of.id, environmentId });
      await root.mutate('pipeline.restore', { id: deleted.pipelineId });
      await root.mutate('pipeline.rollback', { pipelineId: kept.pipelineId, targetVersionId: versionId });
      for (const { pipelineId } of [kept, deleted])
        expect(await lines(pipelineId)).not.to.have.property('sharedComponentId');
    });

    it('is gone from all, or stays linked, when it is linked and deleted at once', async () => {
      for (let round = 0; round < 5; round += 1) {
        const of = await create(`wanted and unwanted ${round}`);
        const { id: pipelineId, nodes, edges } = { ...(await draw()), edges: [] };
        const source = nodes.find(({ componentKey }) => componentKey === 'lines');
        const link = { sharedComponentId: of.id, sharedComponentVersion: 1 };
        const answers = await Promise.all([
          root.call('mutation', 'pipeline.saveGraph', {
            pipelineId,
            nodes: nodes.map((one) => (one === source ? { ...one, ...link } : one)),
            edges,
          }),
          root.call('mutation', 'sharedComponent.delete', { id: of.id, environmentId }),
        ]);
        for (const { status } of answers) expect(status).to.be.oneOf([200, 400]);
        expect(await lines(pipelineId)).not.to.have.property('sharedComponentId');
      }
    });

    it('does not make a graph larger than graphs may be', async () => {
      const of = await create('large', { text: 'x'.repeat(250_000) });
      const names = ['a', 'b', 'c', 'd', 'e'];
      const { id: pipelineId, nodes } = await drawPipeline(root, environmentId, {
        nodes: names.map((name) => component(name, 'demo_logs', 'SOURCE')),
        edges: [],
      });
      const answers: number[] = [];
      for (const { id: nodeId } of nodes) {
        const input = { pipelineId, nodeId, sharedComponentId: of.id };
        answers.push((await root.call('mutation', 'sharedComponent.linkExisting', input)).status);
      }
      expect(answers).to.deep.equal([200, 200, 200, 200, 400]);
    });

    it('is linked, updated, accepted and deleted at once without a 500', async () => {
      const of = await create('busy');
      const one = await linked(of);
      const link = { ...one, sharedComponentId: of.id };
      const calls = Array.from({ length: 5 }, (_, index) => [
        root.call('mutation', 'sharedComponent.acceptUpdate', one),
        root.call('mutation', 'sharedComponent.update', {
          id: of.id,
          environmentId,
          config: { interval: index },
        }),
        root.call('mutation', 'sharedComponent.linkExisting', link),
        root.call('mutation', 'sharedComponent.unlink', one),
        index === 3 ? root.call('mutation', 'sharedComponent.delete', { id: of.id, environmentId }) : null,
      ]).flat();
      for (const answer of await Promise.all(calls))
        if (answer) expect(answer.status, answer.fault?.message).to.be.oneOf([200, 404, 412]);
      const { sharedComponentId } = await lines(one.pipelineId);
      expect(sharedComponentId).to.equal(undefined);
    });
  });
});
