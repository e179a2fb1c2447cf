/** Open pages follow: what somebody changes is told of by topic, after its commit, to those who see the place. */
import { expect } from 'chai';
import type { UiTopic } from '../../../schemas/api/ui-events.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';
import { useTestEnvironments } from '../../support/scenes/places.ts';

describe('a page that is open', () => {
  const test = useController();
  const places = useTestEnvironments(test);
  let made = 0;

  /** The topics that a change was told by; `*` before those that go to everybody. */
  const told = async (name: string, input: object): Promise<{ topics: string[]; id: string }> => {
    const topics: string[] = [];
    const off = test.controller.systemContext('test').services.bus.on('ui', (signal) => {
      if (signal.environmentId !== null && signal.environmentId !== places.environmentId) return;
      topics.push(...signal.topics.map((topic) => (signal.environmentId === null ? `*${topic}` : topic)));
    });
    try {
      const { id } = await places.root.mutate<{ id: string }>(name, input);
      await until(() => topics.length > 0, { what: `${name} to be told of` });
      return { topics: [...new Set(topics)], id };
    } finally {
      off();
    }
  };
  const draft = async () => {
    const input = { environmentId: places.environmentId, name: `draft ${++made}` };
    return (await places.root.mutate<{ id: string }>('pipeline.create', input)).id;
  };

  interface Row {
    router: string;
    topic: UiTopic | `*${UiTopic}`;
    create: string;
    input: () => object | Promise<object>;
    /** What may be done with it, and with which further input. */
    after: Record<string, object>;
  }
  const inEnvironment = () => ({ environmentId: places.environmentId, name: `thing ${++made}` });
  const inTeam = () => ({ teamId: places.teamId, name: `thing ${++made}`, category: 'x' });
  const ROWS: Row[] = [
    {
      ...{ router: 'vrlSnippet', topic: '*library', create: 'create' },
      input: () => ({ ...inTeam(), code: '.a = 1' }),
      after: { update: { code: '.b = 1' }, delete: {} },
    },
    {
      ...{ router: 'template', topic: '*library', create: 'create' },
      input: () => ({ ...inTeam(), description: '', nodes: [], edges: [] }),
      after: { delete: {} },
    },
    {
      ...{ router: 'filterPreset', topic: 'presets', create: 'create' },
      input: () => ({ ...inEnvironment(), scope: 'fleet_matrix', filters: {} }),
      after: { update: { filters: { a: 1 } }, setDefault: { scope: 'fleet_matrix' }, delete: {} },
    },
    {
      ...{ router: 'pipelineGroup', topic: 'pipelines', create: 'create' },
      input: inEnvironment,
      after: { update: { color: '#000000' }, delete: {} },
    },
    {
      ...{ router: 'pipelineDependency', topic: 'pipelines', create: 'add' },
      input: async () => ({ upstreamId: await draft(), downstreamId: await draft() }),
      after: { remove: {} },
    },
    {
      ...{ router: 'environment', topic: '*environments', create: 'create' },
      input: () => ({ teamId: places.teamId, name: `place ${++made}` }),
      after: { update: { name: 'renamed' }, delete: {} },
    },
    {
      ...{ router: 'alert', topic: 'alerts', create: 'createRule' },
      input: () => ({
        ...{ ...inEnvironment(), teamId: places.teamId, metric: 'cpu_usage', condition: 'gt', threshold: 1 },
      }),
      after: { updateRule: { enabled: false }, deleteRule: {} },
    },
  ];
  for (const { router, topic, create, input, after } of ROWS) {
    it(`is told of ${topic} where something is done by ${router}.*`, async () => {
      const first = await told(`${router}.${create}`, await input());
      expect(first.topics, create).to.include(topic);
      const place = topic === 'presets' ? { environmentId: places.environmentId } : {};
      for (const [procedure, more] of Object.entries(after)) {
        const { topics } = await told(`${router}.${procedure}`, { id: first.id, ...place, ...more });
        expect(topics, procedure).to.include(topic);
      }
    });
  }

  it('is not told of what was refused', async () => {
    const heard: string[] = [];
    const { bus } = test.controller.systemContext('test').services;
    const off = bus.on('ui', ({ topics }) => heard.push(...topics));
    const input = { teamId: places.teamId, name: 'once', category: 'x', code: 'y' };
    await places.root.mutate('vrlSnippet.create', input);
    await places.root.call('mutation', 'vrlSnippet.create', input);
    await places.root.mutate('filterPreset.create', {
      ...inEnvironment(),
      scope: 'fleet_matrix',
      filters: {},
    });
    await until(() => heard.includes('presets'), { what: 'the next change' });
    off();
    expect(heard).to.deep.equal(['library', 'presets']);
  });
});
