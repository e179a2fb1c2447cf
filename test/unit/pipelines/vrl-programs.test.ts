/** What a push answers of programs where there is no engine on the controller. */
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { PROGRAMS } from '../../support/fixtures/vrl-programs.ts';

describe('a program in a push, without an engine', function () {
  this.timeout(30_000);
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
  });
  after(() => engine.stop());

  for (const { source, purpose = 'program', is, at } of PROGRAMS) {
    const outcome = is instanceof RegExp ? 'refuses' : is === 'good' ? 'takes' : 'takes, with a note,';
    it(`${outcome} ${JSON.stringify(source)}`, async () => {
      const [result] = await engine.compilePrograms([{ source, purpose }]);
      const [first] = result!.errors;
      if (is instanceof RegExp) {
        expect(`${first?.message}; ${first?.hint}`).to.match(is);
        if (at) expect([first?.line, first?.column]).to.deep.equal(at);
        return;
      }
      expect(result!.errors).to.deep.equal([]);
      expect(result!.unknown).to.have.length(is === 'good' ? 0 : 1);
    });

    if (is instanceof RegExp) continue;
    it(`is told the same in the playground of ${JSON.stringify(source)}`, async () => {
      const tried = await engine.testProgram({ source, purpose }, '{"message":"x"}', 'somebody');
      expect(tried.diagnostics.filter(({ severity }) => severity === 'error' && is === 'good')).to.satisfy(
        (errors: { code: number | null }[]) => errors.every(({ code }) => code === null),
      );
      if (is !== 'good') expect(tried.error).to.match(/functions that only the engine on a node has/);
    });
  }

  it('runs escapes as the characters that they stand for', async () => {
    const source = '.a = "\\u{1b}[0m \\u{22}\\u{5c}\\u{7b}\\u{a}\\u{1F30E}"';
    const tried = await engine.testProgram({ source, purpose: 'program' }, '{}', 'somebody');
    expect(JSON.parse(tried.output ?? 'null')).to.deep.equal({ a: '\u001b[0m "\\{\n🌎' });
  });
});
