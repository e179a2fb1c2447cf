/** Each plugin that a rule knows: what its block becomes, and that all of it passes the checks of a pipeline. */
import { expect } from 'chai';
import { checkPipeline } from '../../../controller/pipelines/definition/checks/check-pipeline.ts';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { PLUGINS } from '../../../controller/pipelines/migration/fluentd/rules/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { scriptedEngine } from '../../support/fixtures/engine-schema/scripted-engine.ts';
import { pipelineOf, secretsIn, translateText } from '../../support/fixtures/fluentd-configs.ts';
import {
  FILTER_CASES,
  OUTPUT_CASES,
  PARSER_CASES,
  type PluginCase,
  SOURCE_CASES,
} from '../../support/fixtures/fluentd-plugins.ts';

const IN = '<source>\n@type sample\ntag a.b\n</source>\n';
const OUT = '<match **>\n@type null\n</match>\n';
const LABEL = '<label @X>\n<match **>\n@type null\n</match>\n</label>\n';
const block = (name: string, { plugin, body }: PluginCase) =>
  `<${name}>\n@type ${plugin}\n${body}\n</${name.split(' ')[0]}>\n`;

/** Each case as a whole configuration, with the number of its block. */
const KINDS = {
  sources: { cases: SOURCE_CASES, at: 0, render: (one: PluginCase) => block('source', one) + OUT },
  filters: { cases: FILTER_CASES, at: 1, render: (one: PluginCase) => IN + block('filter **', one) + OUT },
  outputs: {
    cases: OUTPUT_CASES,
    at: 1,
    render: (one: PluginCase) => IN + block('match a.**', one) + OUT + LABEL,
  },
} as const;

describe('the rule of a plugin of Fluentd', function () {
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

  for (const [kind, { cases, at, render }] of Object.entries(KINDS)) {
    it(`is tried for all ${kind}`, () => {
      expect(cases.map(({ plugin }) => plugin).sort()).to.include.members(
        PLUGINS[kind as keyof typeof KINDS],
      );
    });
    it(`makes the components of ${kind}`, () => {
      const made = cases.map((one) => {
        const translation = translateText(render(one)).translations[at];
        return {
          plugin: one.plugin,
          types: translation?.components.map(({ componentType }) => componentType),
          status: one.status ?? translation?.status,
        };
      });
      expect(made).to.deep.equal(
        cases.map(({ plugin, types, status }, index) => ({
          plugin,
          types,
          status: status ?? made[index]?.status,
        })),
      );
      for (const one of cases) {
        const { status, notes } = translateText(render(one)).translations[at]!;
        expect(status, `${one.plugin}: ${JSON.stringify(notes)}`).to.be.oneOf(
          one.status ? [one.status] : ['complete', 'partial'],
        );
      }
    });
    it(`makes ${kind} that pass all checks`, async () => {
      for (const one of cases) {
        const pipeline = pipelineOf(translateText(render(one)));
        if (Object.keys(pipeline.sources).length === 0) continue;
        const { findings } = await checkPipeline(pipeline, {
          ...{ secrets: secretsIn(pipeline), engine, engineLevel: { skip: 'no engine' }, nodeEngines: [] },
        });
        expect(findings.map(({ pointer, message }) => `${one.plugin} ${pointer} ${message}`)).to.deep.equal(
          [],
        );
      }
    });
  }

  it('is tried for all parsers', () => {
    expect(PARSER_CASES.map(({ plugin }) => plugin)).to.include.members(PLUGINS.parsers);
  });
  for (const { plugin, body = '', text, record, time } of PARSER_CASES) {
    it(`parses ${JSON.stringify(text)} as ${plugin}`, async () => {
      const { translations } = translateText(
        `<source>\n@type tail\npath /a.log\ntag t\n<parse>\n@type ${plugin}\n${body}\n</parse>\n</source>`,
      );
      const source = String(translations[0]?.components[1]?.config.source);
      const { output, error, diagnostics } = await engine.testProgram(
        { source, purpose: 'program' },
        JSON.stringify({ message: text, file: '/a.log' }),
        'test',
      );
      expect(diagnostics.filter(({ severity }) => severity === 'error')).to.deep.equal([]);
      // Grok runs in the engine only.
      if (record === null) return;
      expect(error, source).to.equal(null);
      const { _fluentd: beside, ...fields } = JSON.parse(output ?? '{}');
      expect(fields).to.deep.equal(record);
      expect(beside.tag).to.equal('t');
      if (time) expect(beside.time).to.equal(time);
    });
  }
});
