/** What a push is told of a pipeline although nothing is refused. */
import { expect } from 'chai';
import { createEngineChecks } from '../../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../../controller/platform/runtime/logger.ts';
import { pipelineKind } from '../../../../reconcilers/kinds/pipeline.ts';
import type { DesiredManifest } from '../../../../reconcilers/source/index.ts';
import { definition } from '../../../support/fixtures/definition.ts';

describe('the notes of a pipeline', () => {
  it('name file, line and column, and what to do', async () => {
    const spec = {
      ...definition({
        sources: { in: { type: 'demo_logs', format: 'json' } },
        sinks: { out: { type: 'file', inputs: ['in'], path: '{{ host }}/x.log' } },
      }),
      tests: [],
    };
    const manifest = {
      kind: 'Pipeline',
      name: 'a',
      path: 'team/a.yaml',
      spec,
      at: (pointer: string) => ({
        path: 'team/a.yaml',
        line: pointer === '/sinks/out/path' ? 9 : 1,
        column: 7,
      }),
    };
    const engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
    const { signal } = new AbortController();
    const asked = { secrets: new Set<string>(), engine: true, now: 0, nodeEngines: [], signal };
    const { problems, notes } = await pipelineKind.check(
      { services: { engine } },
      manifest as unknown as DesiredManifest,
      asked,
    );
    await engine.stop();
    expect(problems).to.deep.equal([]);
    expect(notes).to.deep.equal([
      'team/a.yaml:9:7: the template in `sinks.out.path` has no literal prefix: since Vector 0.57 an engine does not start with it; begin it with fixed text',
    ]);
  });
});
