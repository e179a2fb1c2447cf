/** The engine logs what its compiler warns of at each start: of a translated program there must be nothing. */
import { expect } from 'chai';
import { programsOf } from '../../../controller/pipelines/definition/checks/programs.ts';
import { componentsOf } from '../../../controller/pipelines/definition/definition.ts';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { FLUENTD_CONFIGS, pipelineOf, translateText } from '../../support/fixtures/fluentd-configs.ts';
import {
  FILTER_CASES,
  OUTPUT_CASES,
  PARSER_CASES,
  type PluginCase,
  SOURCE_CASES,
} from '../../support/fixtures/fluentd-plugins.ts';

const IN = '<source>\n@type sample\ntag a.b\n</source>\n';
const OUT = '<match **>\n@type null\n</match>\n';
const block = (name: string, { plugin, body }: Pick<PluginCase, 'plugin' | 'body'>) =>
  `<${name}>\n@type ${plugin}\n${body}\n</${name.split(' ')[0]}>\n`;

const parses = PARSER_CASES.map(({ plugin, body = '' }) => `<parse>\n@type ${plugin}\n${body}\n</parse>`);
/** What decides which variables a program of the filter `parser` needs. */
const FILTER_OPTIONS = [
  '',
  'reserve_time true',
  'reserve_data true\nremove_key_name_field true',
  'reserve_time true\nreserve_data true\ninject_key_prefix p_',
  'hash_value_field parsed',
];
const SOURCES: readonly Pick<PluginCase, 'plugin' | 'body'>[] = [
  { plugin: 'forward', body: 'source_address_key ip' },
  { plugin: 'forward', body: 'tag all' },
  { plugin: 'unix', body: 'tag all' },
  { plugin: 'http', body: 'add_remote_addr true' },
  { plugin: 'http', body: 'add_remote_addr false' },
];

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'configurations as they are in use': FLUENTD_CONFIGS.map(({ text }) => text),
  sources: [...SOURCE_CASES, ...SOURCES].map((one) => block('source', one) + OUT),
  filters: FILTER_CASES.map((one) => IN + block('filter **', one) + OUT),
  outputs: OUTPUT_CASES.map((one) => IN + block('match a.**', one) + OUT),
  'parsers of a source': parses.flatMap((body) => [
    block('source', { plugin: 'tail', body: `path /a.log\ntag t\n${body}` }) + OUT,
    block('source', { plugin: 'http', body }) + OUT,
  ]),
  'parsers of a filter': parses.flatMap((body) =>
    FILTER_OPTIONS.map(
      (options) =>
        IN + block('filter **', { plugin: 'parser', body: `key_name log\n${options}\n${body}` }) + OUT,
    ),
  ),
};

describe('the compiler of VRL', function () {
  this.timeout(120_000);
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
  });
  after(() => engine.stop());

  /** Those of the compiler have a code; others are about the place where a program is tried. */
  async function warningsOf(source: string): Promise<string[]> {
    const { diagnostics } = await engine.testProgram({ source, purpose: 'program' }, '{}', 'test');
    return diagnostics
      .filter(({ severity, code }) => severity === 'warning' && code !== null)
      .map(({ code, message, line }) => `E${code} in line ${line}: ${message}\n${source}`);
  }

  it('warns of what a program does not need', async () => {
    expect(await warningsOf('unused = 1\n.a = downcase!("X")')).to.have.length(2);
  });

  for (const [name, texts] of Object.entries(GROUPS)) {
    it(`warns of nothing in the translation of ${name}`, async () => {
      const programs = texts.flatMap((text) =>
        programsOf(componentsOf(pipelineOf(translateText(text)))).map(({ source }) => source),
      );
      expect(programs.length).to.be.at.least(texts.length / 2);
      const found: string[] = [];
      for (const source of new Set(programs)) found.push(...(await warningsOf(source)));
      expect(found.join('\n\n')).to.equal('');
    });
  }
});
