/**
 * Nothing that Vector runs is refused at push. With `HEADGATE_ENGINE_BIN` the engine that it names is asked as well, and
 * its own verdict has to be the same; without, the schema of Vector alone judges.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkPipeline } from '../../../controller/pipelines/definition/checks/check-pipeline.ts';
import { compile } from '../../../controller/pipelines/definition/compile.ts';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { scriptedEngine } from '../../support/fixtures/engine-schema/scripted-engine.ts';
import { leaveOut, typesLacking } from '../../support/fixtures/engine-types.ts';
import { GOOD_MANIFESTS } from '../../support/fixtures/good-manifests.ts';

const REAL = process.env.HEADGATE_ENGINE_BIN;

describe('a manifest that Vector runs', function () {
  this.timeout(30_000);
  const scripted = scriptedEngine();
  const folder = mkdtempSync(join(tmpdir(), 'good-manifests-'));
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: REAL ?? scripted.bin, log: createLogger('silent') });
  });
  after(async () => {
    await engine.stop();
    scripted.remove();
    rmSync(folder, { recursive: true });
  });

  for (const { name, of, isAlias } of GOOD_MANIFESTS) {
    if (isAlias && REAL === undefined) continue;
    it(`passes without a word: ${name}`, async function () {
      const lacking = await typesLacking(engine, of);
      if (lacking.length > 0) leaveOut(this, lacking);
      const { configYaml } = compile(of);
      const { findings, warnings } = await checkPipeline(of, {
        ...{ secrets: new Set<string>(), engine, engineLevel: { configYaml }, nodeEngines: [] },
      });
      const told = [...findings, ...warnings].map(({ pointer, message }) => `${pointer} ${message}`);
      expect(told).to.deep.equal([]);
      if (REAL === undefined || configYaml.includes('on-the-node-only')) return;
      const file = join(folder, 'config.yaml');
      writeFileSync(file, configYaml);
      const { status, stdout } = spawnSync(REAL, ['validate', '--no-environment', file], {
        encoding: 'utf8',
      });
      expect(status, stdout).to.equal(0);
    });
  }
});
