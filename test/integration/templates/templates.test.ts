/** Templates: graphs that a team keeps, with nothing in them that belongs to one place. */
import { expect } from 'chai';
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import type { Template, TemplateSummary } from '../../../schemas/api/pipelines/templates.ts';
import { useController } from '../../support/harness/controller.ts';
import { refusal, useTestEnvironments } from '../../support/scenes/places.ts';

type Created = Template & { strippedFields: string[] };

const node = (componentKey: string, kind: GraphNode['kind'], more: Partial<GraphNode> = {}): GraphNode => ({
  ...{ componentKey, kind, componentType: 'blackhole', config: {} },
  ...{ positionX: 10, positionY: 20, disabled: false },
  ...more,
});
const NODES = [
  node('lines', 'SOURCE', { id: 'given-id', componentType: 'demo_logs', config: { format: 'json' } }),
  node('out', 'SINK', { displayName: 'The end', disabled: true }),
];
const EDGES: GraphEdge[] = [{ sourceNodeId: 'given-id', targetNodeId: 'out' }];

describe('templates', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let made = 0;

  const input = (more: object = {}) => ({
    ...{ teamId: places.teamId, name: `template ${++made}`, category: 'Basics', description: 'for a start' },
    ...{ nodes: NODES, edges: EDGES },
    ...more,
  });
  const create = (more?: object) => places.editor.mutate<Created>('template.create', input(more));
  const get = (id: string, person = places.editor) => person.query<Template>('template.get', { id });

  it('keep the graph under ids of its own', async () => {
    const { strippedFields, ...template } = await create();
    expect(strippedFields).to.deep.equal([]);
    expect(await get(template.id)).to.deep.equal(template);
    const [source, sink] = template.nodes;
    const ids = template.nodes.map(({ id }) => id);
    expect(new Set([...ids, 'given-id', undefined])).to.have.length(4);
    expect(source).to.deep.equal({ ...NODES[0], id: source?.id });
    expect(sink).to.deep.equal({ ...NODES[1], id: sink?.id });
    expect(template.edges).to.have.length(1);
    expect(template.edges[0]).to.include({ sourceNodeId: source?.id, targetNodeId: sink?.id });
    const [again] = (await create()).nodes;
    expect(again?.id, 'another template from the same graph').not.to.equal(source?.id);
  });

  it('are listed without their graphs, with how many components they have of which types', async () => {
    const nodes = [...NODES, node('other', 'SINK')];
    const { id, nodes: _nodes, edges: _edges, strippedFields: _fields, ...rest } = await create({ nodes });
    const all = await places.viewer.query<TemplateSummary[]>('template.list', { teamId: places.teamId });
    expect(all.find((one) => one.id === id)).to.deep.equal({
      id,
      ...rest,
      ...{ componentCount: 3, componentTypes: ['blackhole', 'demo_logs'], createdByName: 'editor' },
    });
    expect(await places.both.query('template.list', { teamId: places.otherTeamId })).to.deep.equal([]);
  });

  it('take no link to a shared component with them', async () => {
    const linked = node('out', 'SINK', { sharedComponentId: 'some-component', sharedComponentVersion: 3 });
    const { nodes } = await create({ nodes: [NODES[0], linked] });
    expect(nodes[1]).to.deep.equal(node('out', 'SINK', { id: nodes[1]?.id }));
  });

  it('take no credential with them that is written out, and name where it stood', async () => {
    const config = {
      ...{ uri: 'https://example.org', token: `\${SVC_SECRET_TOKEN}` },
      auth: { user: 'ada', password: 'written-out-in-plain' },
    };
    const { id, nodes, strippedFields } = await create({
      nodes: [NODES[0], node('out', 'SINK', { config })],
    });
    expect(strippedFields).to.deep.equal(['/out/auth/password']);
    expect(nodes[1]?.config).to.deep.equal({ ...config, auth: { user: 'ada' } });
    const rows = [
      await test.db('templates').where({ id }),
      await test.db('audit_log').where({ entity_id: id }),
    ];
    expect(JSON.stringify(rows)).not.to.include('written-out-in-plain');
  });

  it('show what looks like a credential to those alone who may change it', async () => {
    const { id, nodes } = await create();
    const [source] = nodes;
    const stored = nodes.map((one) => ({ ...one, config: { password: 'older-than-the-rule' } }));
    await test
      .db('templates')
      .where({ id })
      .update({ graph_nodes: JSON.stringify(stored) });
    expect((await get(id)).nodes[0]).to.deep.equal({
      ...source,
      config: { password: 'older-than-the-rule' },
    });
    const { answer } = await places.viewer.call('query', 'template.get', { id });
    expect(answer.text).to.include('password').and.not.to.include('older-than-the-rule');
  });

  it('may be empty: a team may keep a description alone', async () => {
    expect(await create({ nodes: [], edges: [], description: '' })).to.include({ componentCount: 0 });
  });

  const WRONG: [reason: string, more: object, says: RegExp][] = [
    ['two components of one key', { nodes: [NODES[1], NODES[1]], edges: [] }, /"out"/],
    ['an edge to nowhere', { nodes: [NODES[0]] }, /"out"/],
    [
      'an edge that leads into a source',
      { edges: [{ sourceNodeId: 'out', targetNodeId: 'lines' }] },
      /sink has no output/,
    ],
    ['a key that is no name', { nodes: [node('a b', 'SINK')], edges: [] }, /nodes/],
    [
      '501 components',
      { nodes: Array.from({ length: 501 }, (_, n) => node(`n${n}`, 'SINK')), edges: [] },
      /nodes/,
    ],
    [
      'a graph of more than 1 MiB',
      { nodes: [node('out', 'SINK', { config: { text: 'x'.repeat(1_048_576) } })], edges: [] },
      /bytes/,
    ],
    ['an unknown field in a node', { nodes: [{ ...NODES[1], surprise: 1 }], edges: [] }, /surprise/],
  ];
  for (const [reason, more, says] of WRONG) {
    it(`refuse ${reason}`, async () => {
      const refused = await refusal(places.editor, 'mutation', 'template.create', input(more));
      expect(refused)
        .to.match(/^BAD_REQUEST/)
        .and.match(says);
    });
  }
});
