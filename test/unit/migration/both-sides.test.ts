/**
 * Lines through an original and through what the rules make of it: the record that Fluentd delivers is known, and both
 * interpreters have to deliver it. What a source adds to an event is what Vector 0.58 adds, after its source text.
 */
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { analyze } from '../../../controller/pipelines/migration/analyze-original.ts';
import { parseFluentd } from '../../../controller/pipelines/migration/fluentd/index.ts';
import { componentsOf } from '../../../controller/pipelines/migration/migrated-definition.ts';
import { interpret } from '../../../controller/pipelines/migration/replay/fluentd/interpret.ts';
import { replayTranslated } from '../../../controller/pipelines/migration/replay/vector/replay-translated.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';

type Fields = Record<string, unknown>;
interface Case {
  reason: string;
  config: string;
  line: string;
  /** Null: nothing is delivered. */
  expected: Fields | null;
  tag?: string;
  /** Of the event. */
  time?: string;
}

const OUT = '<match **>\n@type stdout\n</match>\n';
const tail = (parse: string, filter = '') =>
  `<source>\n@type tail\npath /a.log\ntag a.b\n<parse>\n@type ${parse}\n</parse>\n</source>\n${filter}\n${OUT}`;
const json = (filter: string) => tail('json', `<filter **>\n@type ${filter}\n</filter>`);
const of = (type: string) => `<source>\n@type ${type}\n</source>\n${OUT}`;
const TYPES = 'regexp\nexpression /^(?<a>[^ ]*) (?<b>[^ ]*) (?<c>[^ ]*)$/\ntypes a:integer,b:float,c:bool';
const LTSV = 'ltsv\ntypes n:integer';
const SYSLOG = '<source>\n@type syslog\ntag s\n<parse>\nmessage_format auto\n</parse>\n</source>\n';
const NEW = '2024-01-02T03:04:05.678Z host app 12 ID - hello';

const CASES: readonly Case[] = [
  {
    reason: 'types that are numbers with something behind them',
    ...{ config: tail(TYPES), line: '12ms 1.5s YES', expected: { a: 12, b: 1.5, c: true } },
  },
  {
    reason: 'types that are no numbers',
    ...{ config: tail(TYPES), line: '- x no', expected: { a: 0, b: 0, c: false } },
  },
  {
    reason: 'a type of a field that may be null',
    config: tail('regexp\nexpression /^(?<a>[^ ]*) (?<b>.*)$/\nnull_empty_string true\ntypes a:integer'),
    ...{ line: ' x', expected: { a: null, b: 'x' } },
  },
  {
    reason: 'labelled values with quotes, blanks and labels of their own',
    ...{
      config: tail(LTSV),
      line: 'n:7x\tq:"a b"\tu: http://h ',
      expected: { n: 7, q: '"a b"', u: ' http://h ' },
    },
  },
  {
    reason: 'a label without a value',
    ...{ config: tail(LTSV), line: 'n:1\tplain', expected: { n: 1, plain: null } },
  },
  {
    reason: 'a label twice',
    ...{ config: tail(LTSV), line: 'n:1\tn:2', expected: { n: 2 } },
  },
  {
    reason: 'columns that are missing',
    ...{ config: tail('csv\nkeys a,b,c'), line: '1,2', expected: { a: '1', b: '2', c: null } },
  },
  {
    reason: 'more columns than keys, divided by tabs',
    ...{ config: tail('tsv\nkeys a,b'), line: '1\t2\t3', expected: { a: '1', b: '2\t3' } },
  },
  {
    reason: 'a message of syslog without the priority that is asked for',
    ...{ config: tail('syslog\nwith_priority true'), line: 'Jan  2 03:04:05 h app: m', expected: null },
  },
  {
    reason: 'a message of RFC 5424 with its version where no priority is read',
    ...{ config: tail('syslog\nmessage_format rfc5424'), line: `<11>1 ${NEW}`, expected: null },
  },
  {
    reason: 'a message of RFC 5424 without priority and version',
    config: tail('syslog\nmessage_format rfc5424'),
    ...{ line: NEW, time: '2024-01-02T03:04:05.678Z' },
    expected: { host: 'host', ident: 'app', pid: '12', msgid: 'ID', extradata: '-', message: 'hello' },
  },
  {
    reason: 'a message of RFC 5424 that a source of both forms gets',
    ...{ config: SYSLOG + OUT, line: `<11>1 ${NEW}`, tag: 's.user.err', time: '2024-01-02T03:04:05.678Z' },
    expected: { host: 'host', ident: 'app', pid: '12', msgid: 'ID', extradata: '-', message: 'hello' },
  },
  {
    reason: 'a message of RFC 3164 that a source of both forms gets',
    ...{ config: SYSLOG + OUT, line: '<11>Jan  2 03:04:05 h app[1]: m', tag: 's.user.err' },
    expected: { host: 'h', ident: 'app', pid: '1', message: 'm' },
  },
  {
    reason: 'the form of a source before version 1',
    config: `<source>\ntype tail\npath /a.log\ntag a.b\nformat ltsv\n</source>\n${OUT}`,
    ...{ line: 'a:1', expected: { a: '1' } },
  },
  {
    reason: 'a time that is no number',
    ...{ config: tail('json'), line: '{"a":1,"time":"2024-01-02"}', expected: { a: 1 } },
    time: '1970-01-01T00:33:44.000Z',
  },
  {
    reason: 'nothing, where JSON is nested in 200 levels',
    ...{ config: tail('json'), line: `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`, expected: null },
  },
  {
    reason: 'fields of a request that are named as those of the engine',
    config: of('http'),
    line: '{"host":"web-1","timestamp":"yesterday","source_type":"x","time":1704164645.678}',
    expected: { host: 'web-1', timestamp: 'yesterday', source_type: 'x' },
    ...{ tag: 'a.b', time: '2024-01-02T03:04:05.678Z' },
  },
  {
    reason: 'fields of a forwarded record that are named as those of the engine',
    ...{
      config: of('forward'),
      line: '{"host":"web-1","timestamp":"yesterday","source_type":"x"}',
      tag: 'a.b',
    },
    expected: { host: 'web-1', timestamp: 'yesterday', source_type: 'x' },
  },
  {
    reason: 'a forwarded record without a host',
    ...{ config: of('forward'), line: '{"a":1}', tag: 'a.b', expected: { a: 1 } },
  },
  {
    reason: 'a time that is taken from a field, and is no number',
    config: json('record_transformer\nrenew_time_key t\n<record>\nq 1\n</record>'),
    ...{ line: '{"t":"x"}', expected: { t: 'x', q: '1' }, time: '1970-01-01T00:00:00.000Z' },
  },
  {
    reason: 'a field that cannot be parsed, where the result has a name',
    config: json('parser\nkey_name l\nreserve_data true\nhash_value_field p\n<parse>\n@type json\n</parse>'),
    ...{ line: '{"l":"no"}', expected: { l: 'no', p: {} } },
  },
];

describe('a line that both sides run', function () {
  this.timeout(60_000);
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
  });
  after(() => engine.stop());

  async function deliveredByTranslation({ config, line, tag = 'a.b' }: Case) {
    const { translations } = analyze(config);
    const source = translations[0]?.components.find(({ kind }) => kind === 'SOURCE');
    if (!source) throw new Error('no source stands for the first block');
    const { delivered, unknown } = await replayTranslated({
      ...{ components: componentsOf(translations), source, now: Date.now(), lines: [{ line, tag }] },
      blockOf: (key) =>
        translations.find(({ components }) => components.some(({ componentKey }) => componentKey === key))
          ?.blockId ?? '',
      run: (transform, events) => engine.runTransform(transform, events, 'test'),
    });
    expect(unknown).to.deep.equal([]);
    return delivered.map(({ event }) => event);
  }

  for (const one of CASES) {
    it(`is delivered with ${one.reason}`, async () => {
      const { config, line, expected, tag = null, time } = one;
      const isForwarded = /@type (?:forward|http)/.test(config);
      const run = interpret(parseFluentd(config), {
        lines: [line],
        blockId: null,
        tag: isForwarded ? tag : null,
      });
      if (run.status === 'refused') throw new Error(run.reason);
      expect(run.lines[0]?.unknown).to.deep.equal([]);
      const delivered = run.lines[0]?.delivered ?? [];
      expect(delivered.map(({ record }) => record)).to.deep.equal(expected === null ? [] : [expected]);
      const events = await deliveredByTranslation(one);
      const records = events.map(({ _fluentd: _, ...record }) => record);
      expect(records).to.deep.equal(expected === null ? [] : [expected]);
      const beside = events[0]?._fluentd as { tag: string; time: string } | undefined;
      if (tag !== null) expect([delivered[0]?.tag, beside?.tag]).to.deep.equal([tag, tag]);
      const times = [delivered[0]?.time ?? Number.NaN, Date.parse(beside?.time ?? '')];
      if (time !== undefined)
        expect(times.map((at) => new Date(at).toISOString())).to.deep.equal([time, time]);
    });
  }
});
