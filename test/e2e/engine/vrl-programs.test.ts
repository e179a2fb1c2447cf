/** What a push answers of programs where the controller has an engine: that of HEADGATE_ENGINE_BIN, else the reference engine. */
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { PROGRAMS } from '../../support/fixtures/vrl-programs.ts';
import { engineBinary } from './support.ts';

const REAL = process.env.HEADGATE_ENGINE_BIN;

describe(`a program in a push, with ${REAL ? 'the engine at hand' : 'the reference engine'}`, function () {
  this.timeout(60_000);
  let engine: Engine;
  before(async () => {
    const engineBin = REAL ?? (await engineBinary());
    engine = createEngineChecks({ engineBin, log: createLogger('silent') });
  });
  after(() => engine.stop());

  it('is taken or refused as the engine would', async () => {
    const results = await engine.compilePrograms(
      PROGRAMS.map(({ source, purpose }) => ({ source, purpose: purpose ?? 'program' })),
    );
    const wrong = PROGRAMS.flatMap(({ source, is }, index) => {
      const { errors, unknown } = results[index]!;
      const said = errors.map(({ message, hint }) => `${message}; ${hint}`).join('\n');
      // The reference engine compiles by the same compiler, so it cannot take what that lacks.
      const notes = is === 'node' || (is === 'newer' && !REAL) ? 1 : 0;
      const right = is instanceof RegExp ? is.test(said) : errors.length === 0 && unknown.length === notes;
      return right ? [] : [{ source, said, unknown }];
    });
    expect(wrong).to.deep.equal([]);
  });

  it('is no fault of a config where the engine lacks a function that VRL has', async () => {
    const config = (program: string) =>
      JSON.stringify({
        sources: { in: { type: 'demo_logs', format: 'json' } },
        transforms: { t: { type: 'remap', inputs: ['in'], source: program } },
        sinks: { out: { type: 'blackhole', inputs: ['t'] } },
      });
    const known = await engine.validateConfig(config('.a = basename(.path) ?? ""'));
    expect(known).to.deep.include({ status: 'checked', errors: [] });
    if (!REAL) expect(known).to.deep.include({ unknown: ['the VRL function basename'] });
    const misspelt = await engine.validateConfig(config('.a = basenme(.path) ?? ""'));
    expect(misspelt).to.deep.include({ status: 'checked', unknown: [] });
    expect(misspelt.status === 'checked' && misspelt.errors).to.have.length(1);
  });
});
