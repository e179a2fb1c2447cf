/** Programs of filters and outputs, run on records: what comes out is what Fluentd makes of them. */
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { translateText } from '../../support/fixtures/fluentd-configs.ts';

const TIME = '2024-01-02T03:04:05.678+00:00';

interface Run {
  reason: string;
  block: string;
  record: object;
  /** Null: the event is dropped. */
  expected: object | null;
  tag?: string;
}

const transformer = (body: string) => `<filter **>\n@type record_transformer\n${body}\n</filter>`;
const parser = (body: string) =>
  `<filter **>\n@type parser\nkey_name log\n${body}\n<parse>\n@type json\ntime_key t\ntime_type unixtime\n</parse>\n</filter>`;
const output = (body: string) => `<match **>\n${body}\n</match>`;

const RUNS: readonly Run[] = [
  {
    reason: 'computes all values from the record as it came',
    block: transformer('<record>\na ${record["b"]}\nb ${record["a"]}\nc x\n</record>'),
    record: { a: 1, b: 2 },
    expected: { a: 2, b: 1, c: 'x' },
  },
  {
    reason: 'retains only some fields',
    block: transformer('renew_record true\nkeep_keys a,q\n<record>\nd ${record["b"]}-${tag}\n</record>'),
    record: { a: 1, b: 2 },
    expected: { a: 1, d: '2-a.b' },
  },
  {
    reason: 'removes fields, also inner ones',
    block: transformer('remove_keys b,$.o.x\n<record>\nt ${time}\n</record>'),
    record: { b: 1, o: { x: 1, y: 2 } },
    expected: { o: { y: 2 }, t: '2024-01-02T03:04:05.678Z' },
  },
  {
    reason: 'drops an event on which Ruby raises',
    block: transformer('enable_ruby\n<record>\na ${record["none"].downcase}\n</record>'),
    record: {},
    expected: null,
  },
  {
    reason: 'parses a field and keeps no other',
    block: parser(''),
    record: { log: '{"x":1,"t":1700000000}', y: 2 },
    expected: { x: 1 },
  },
  {
    reason: 'parses a field beside the others',
    block: parser('reserve_data true\nreserve_time true\nremove_key_name_field true\ninject_key_prefix p_'),
    record: { log: '{"x":1}', y: 2 },
    expected: { p_x: 1, y: 2 },
  },
  { reason: 'drops what cannot be parsed', block: parser(''), record: { log: 'no' }, expected: null },
  {
    reason: 'passes on what cannot be parsed with reserve_data',
    block: parser('reserve_data true'),
    record: { log: 'no' },
    expected: { log: 'no' },
  },
  {
    reason: 'replaces text in a field',
    block:
      '<filter **>\n@type record_modifier\nwhitelist_keys m,n\n<record>\nn ${record["x"].to_s}\n</record>\n<replace>\nkey m\nexpression /\\d+/\nreplace #\n</replace>\n</filter>',
    record: { m: 'a1b22', x: 3 },
    expected: { m: 'a#b#', n: '3' },
  },
  {
    reason: 'takes dots out of the names of fields',
    block: '<filter **>\n@type dedot\nde_dot_nested true\n</filter>',
    record: { 'a.b': { 'c.d': 1 } },
    expected: { a_b: { c_d: 1 } },
  },
  {
    reason: 'gives a new tag by the first rule that fits',
    block: output(
      '@type rewrite_tag_filter\n@label @X\n<rule>\nkey l\npattern /^(e)(r+)/\ntag x.$2.${tag}\n</rule>\n<rule>\nkey l\npattern /./\ntag y\n</rule>',
    ),
    record: { l: 'err' },
    expected: { l: 'err' },
    tag: 'x.rr.a.b',
  },
  {
    reason: 'drops what no rule fits',
    block: output('@type rewrite_tag_filter\n<rule>\nkey l\npattern /x/\ntag y\n</rule>'),
    record: { l: 'err' },
    expected: null,
  },
  {
    reason: 'writes time, tag and record as out_file does',
    block: output('@type file\npath /a.${tag}'),
    record: { k: 1 },
    expected: { k: 1, message: '2024-01-02T03:04:05+00:00\ta.b\t{"k":1}' },
  },
  {
    reason: 'injects the tag and the time',
    block: output(
      '@type kafka2\nbrokers k\ndefault_topic t\n<inject>\ntag_key tag\ntime_key time\ntime_type string\ntime_format %F %T\n</inject>\n<format>\n@type json\n</format>',
    ),
    record: { k: 1 },
    expected: { k: 1, tag: 'a.b', time: '2024-01-02 03:04:05' },
  },
  {
    reason: 'adds @timestamp for logstash_format',
    block: output('@type elasticsearch\nhost h\nlogstash_format true'),
    record: { k: 1 },
    expected: { k: 1, '@timestamp': TIME },
  },
];

describe('a translated program', function () {
  this.timeout(30_000);
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
  });
  after(() => engine.stop());

  for (const { reason, block, record, expected, tag } of RUNS) {
    it(reason, async () => {
      const { translations } = translateText(
        `<source>\n@type sample\ntag a.b\n</source>\n${block}\n<label @X>\n</label>`,
      );
      const source = String(
        translations[1]?.components.find(({ componentType }) => componentType === 'remap')?.config.source,
      );
      const event = JSON.stringify({ ...record, _fluentd: { tag: 'a.b', time: TIME } });
      const {
        output: made,
        error,
        diagnostics,
        success,
        dropped,
      } = await engine.testProgram({ source, purpose: 'program' }, event, 'test');
      if (expected === null) {
        expect(success && !dropped, source).to.equal(false);
        return;
      }
      expect(diagnostics.filter(({ severity }) => severity === 'error')).to.deep.equal([]);
      expect(error, source).to.equal(null);
      const { _fluentd: beside, ...fields } = JSON.parse(made ?? '{}');
      expect(fields, source).to.deep.equal(expected);
      expect(beside.tag).to.equal(tag ?? 'a.b');
    });
  }

  it('makes the tag of a source from the file, the topic or the path of a request', async () => {
    const sources: [string, object, string][] = [
      [
        '@type tail\npath /v/*.log\ntag k.*\npath_key p\n<parse>\n@type none\n</parse>',
        { message: 'x', file: '/v/log/a.log' },
        'k.v.log.a.log',
      ],
      [
        '@type kafka_group\nbrokers k\nconsumer_group g\ntopics t\nadd_prefix q',
        { message: '{"a":1}', topic: 't' },
        'q.t',
      ],
      ['@type http', { a: 1, _request_path: '/app/x', _remote_address: '::1' }, 'app.x'],
      ['@type forward\nadd_tag_prefix p', { a: 1, tag: 'x', host: 'h', timestamp: TIME }, 'p.x'],
      [
        '@type syslog\ntag s\n<parse>\nmessage_format rfc5424\n</parse>',
        { message: `<11>1 ${TIME} h app 1 - - m` },
        's.user.err',
      ],
    ];
    for (const [body, event, tag] of sources) {
      const source = String(
        translateText(`<source>\n${body}\n</source>`).translations[0]?.components[1]?.config.source,
      );
      const { output: made, error } = await engine.testProgram(
        { source, purpose: 'program' },
        JSON.stringify(event),
        'test',
      );
      expect(error, source).to.equal(null);
      expect(JSON.parse(made ?? '{}')._fluentd?.tag, source).to.equal(tag);
    }
  });

  it('takes credentials of each store apart, and copies none', () => {
    const { translations } = translateText(
      output(
        [
          '@type copy',
          ...['hunter1', 'hunter2'].map(
            (password) => `<store>\n@type elasticsearch\nhost h\nuser u\npassword ${password}\n</store>`,
          ),
        ].join('\n'),
      ),
    );
    const text = JSON.stringify(translations);
    expect(text).to.include('SVC_SECRET_COPY_PASSWORD}').and.include('SVC_SECRET_COPY_PASSWORD_2}');
    expect(text).not.to.match(/hunter/);
  });

  it('notes a parameter that no rule reads, with its line', () => {
    const { translations } = translateText(transformer('colour blue\n<record>\na b\n</record>'));
    expect(translations[0]).to.deep.include({ status: 'partial', confidence: 0.95 });
    expect(translations[0]?.notes).to.deep.include({
      ...{ level: 'difference', message: 'colour in <filter> has no counterpart here.', line: 3 },
    });
  });
});
