/** What a recommendation puts into a pipeline is what Vector takes, by Vector's own schema. */
import { expect } from 'chai';
import {
  insertIntoGraph,
  limitBefore,
  sampleBefore,
} from '../../../controller/insight/recommendations/change.ts';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { checkPipeline, compile, definitionOf } from '../../../controller/pipelines/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { scriptedEngine } from '../../support/fixtures/engine-schema/scripted-engine.ts';
import { component, edge } from '../../support/fixtures/graphs.ts';

describe('a recommended transform', function () {
  this.timeout(30_000);
  const scripted = scriptedEngine();
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: scripted.bin, log: createLogger('silent') });
  });
  after(async () => {
    await engine.stop();
    scripted.remove();
  });

  const source = component('in', 'demo_logs', 'SOURCE', { format: 'json' });
  const counter = component('count', 'log_to_metric', 'TRANSFORM', {
    metrics: [{ type: 'counter', field: 'user', name: 'seen', tags: { user: '{{ user }}' } }],
  });
  const store = component('out', 'prometheus_exporter', 'SINK', { address: '0.0.0.0:9598' });
  const logs = component('out', 'blackhole', 'SINK');
  for (const { graph, change } of [
    {
      graph: { nodes: [source, logs], edges: [edge('in', 'out')] },
      change: (drawn: { nodes: (typeof source)[]; edges: ReturnType<typeof edge>[] }) =>
        sampleBefore(drawn, logs, 10),
    },
    {
      graph: { nodes: [source, counter, store], edges: [edge('in', 'count'), edge('count', 'out')] },
      change: (drawn: { nodes: (typeof source)[]; edges: ReturnType<typeof edge>[] }) =>
        limitBefore(drawn, store),
    },
  ]) {
    const insertion = change(graph);
    it(`${insertion.componentType} passes every check of a push`, async () => {
      const definition = definitionOf({ ...insertIntoGraph(graph, insertion), globalConfig: {} });
      const { configYaml } = compile(definition);
      const { findings, warnings } = await checkPipeline(definition, {
        ...{ secrets: new Set<string>(), engine, engineLevel: { configYaml }, nodeEngines: [] },
      });
      expect([...findings, ...warnings].map(({ pointer, message }) => `${pointer} ${message}`)).to.deep.equal(
        [],
      );
    });
  }
});
