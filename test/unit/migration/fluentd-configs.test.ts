/** Twenty configurations as they are in use: what rules alone translate is valid, and is most of it. */
import { expect } from 'chai';
import { checkPipeline } from '../../../controller/pipelines/definition/checks/check-pipeline.ts';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { scriptedEngine } from '../../support/fixtures/engine-schema/scripted-engine.ts';
import {
  CREDENTIALS,
  FLUENTD_CONFIGS,
  pipelineOf,
  secretsIn,
  translateText,
} from '../../support/fixtures/fluentd-configs.ts';

describe('a configuration of Fluentd as it is in use', function () {
  this.timeout(60_000);
  const scripted = scriptedEngine();
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: scripted.bin, log: createLogger('silent') });
  });
  after(async () => {
    await engine.stop();
    scripted.remove();
  });

  for (const { name, text } of FLUENTD_CONFIGS) {
    it(`becomes a pipeline that passes all checks: ${name}`, async () => {
      const translated = translateText(text);
      const pipeline = pipelineOf(translated);
      const { findings } = await checkPipeline(pipeline, {
        ...{ secrets: secretsIn(pipeline), engine, engineLevel: { skip: 'no engine' }, nodeEngines: [] },
      });
      const found = findings.map(({ pointer, message }) => `${pointer} ${message}`);
      expect(found.join('\n')).to.equal('');
      expect(JSON.stringify(translated.translations)).not.to.match(CREDENTIALS);
    });
  }

  it('is translated by rules in four of five blocks', function () {
    const all = FLUENTD_CONFIGS.flatMap(({ text }) => translateText(text).translations);
    const settled = all.filter(({ status }) => status !== 'open');
    const complete = all.filter(({ status }) => status === 'complete');
    const rate = settled.length / all.length;
    if (this.test) {
      this.test.title += `: ${settled.length} of ${all.length} (${Math.round(rate * 100)} %), ${complete.length} of them without a difference`;
    }
    expect(FLUENTD_CONFIGS).to.have.length(20);
    expect(rate).to.be.at.least(0.8);
  });
});
