/** What Ruby has in configurations, as VRL: expressions, regular expressions, time formats, variables of the environment. */
import { expect } from 'chai';
import { createEngineChecks, type Engine } from '../../../controller/pipelines/engine/index.ts';
import { readEmbedded } from '../../../controller/pipelines/migration/fluentd/section/environment.ts';
import { translateRegexp } from '../../../controller/pipelines/migration/fluentd/text/regexp.ts';
import { translateRuby } from '../../../controller/pipelines/migration/fluentd/text/ruby/expression.ts';
import { translateTimeFormat } from '../../../controller/pipelines/migration/fluentd/text/time-format.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';

const EVENT = {
  _fluentd: { tag: 'a.b.c', time: '2024-01-02T03:04:05.678Z' },
  ...{ a: 'Hello', n: 7, f: 1.5, o: { k: { z: 'deep' } }, s: '12', e: '' },
};

/** Ruby, and its value for the event. */
const EXPRESSIONS: Readonly<Record<string, unknown>> = {
  'record["a"]': 'Hello',
  "record['a'].downcase": 'hello',
  'record["o"]["k"]["z"]': 'deep',
  'record.dig("o", "k", "z")': 'deep',
  tag: 'a.b.c',
  'tag_parts[1]': 'b',
  'tag_parts[-1].upcase': 'C',
  'tag_prefix[1]': 'a.b',
  'tag_prefix[-1]': 'a.b.c',
  'tag_suffix[1]': 'b.c',
  'tag_suffix[-1]': 'c',
  'tag_parts[9] || "x"': 'x',
  'time.strftime("%Y-%m-%dT%H:%M:%S.%L%z")': '2024-01-02T03:04:05.678+0000',
  'time.to_i * 1000': 1704164645000,
  'time.to_f': 1704164645.678,
  'Time.at(time).utc.iso8601(3)': '2024-01-02T03:04:05.678+00:00',
  'record["missing"] || "none"': 'none',
  'record["n"].to_i >= 500 ? "error" : "ok"': 'ok',
  'record["a"] == "Hello" && record["n"] > 3': true,
  'record["a"] =~ /^He/ ? 1 : 0': 1,
  'record["a"].gsub(/l+/, "L")': 'HeLo',
  'record["a"].sub("l", "")': 'Helo',
  'record["a"].split("l")[0]': 'He',
  'record["a"].split("l").last': 'o',
  '"x-#{record["a"]}-#{tag_parts[0]}"': 'x-Hello-a',
  'record["a"].nil? ? "y" : "n"': 'n',
  '!record["e"].empty?': false,
  'record["s"].to_i + 1': 13,
  'record["n"].to_i / 2': 3,
  'record["n"].to_i % 2': 1,
  'record["f"].to_f > 1.0 ? "yes" : "no"': 'yes',
  'record["missing"].to_s': '',
  'record["a"][0..1]': 'He',
  'record["a"][0, 3]': 'Hel',
  'record["q"] && record["q"]["z"]': null,
  'record.has_key?("a")': true,
  'record["a"].start_with?("He")': true,
  'record["a"] + "!"': 'Hello!',
  'record["a"].capitalize': 'Hello',
  'Digest::MD5.hexdigest(record["a"])': '8b1a9953c4611296a827abf8c47804d7',
  nil: null,
};

describe('a Ruby expression', function () {
  this.timeout(30_000);
  let engine: Engine;
  before(() => {
    engine = createEngineChecks({ engineBin: null, log: createLogger('silent') });
  });
  after(() => engine.stop());

  it('has in VRL the value that it has in Ruby', async () => {
    for (const [ruby, expected] of Object.entries(EXPRESSIONS)) {
      const code = translateRuby(ruby)?.code;
      expect(code, ruby).to.be.a('string');
      const program = { source: `.result = ${code}`, purpose: 'program' as const };
      const { output, error, diagnostics } = await engine.testProgram(program, JSON.stringify(EVENT), 'test');
      expect(
        diagnostics.filter(({ severity }) => severity === 'error'),
        `${ruby}: ${code}`,
      ).to.deep.equal([]);
      expect(error, `${ruby}: ${code}`).to.equal(null);
      expect(JSON.parse(output ?? '{}').result, `${ruby}: ${code}`).to.deep.equal(expected);
    }
  });

  it('is not translated where that cannot be proved', () => {
    const unknown = [
      ...[
        'File.read("/etc/passwd")',
        '`ls`',
        'system("ls")',
        'record.delete("a")',
        'record["x"] rescue nil',
        'ENV["X"]',
      ],
      ...[
        'case x when 1 then 2 end',
        'record["a"].send(:exit)',
        'eval("1")',
        'record["a"] =~ /(?=x)/',
        '1 +',
        'x',
        '',
      ],
      ...['record["a"].map { |x| x }', `${'('.repeat(100)}1${')'.repeat(100)}`, 'record["a"].upcase[0]'],
    ];
    expect(unknown.filter((ruby) => translateRuby(ruby) !== null)).to.deep.equal([]);
  });
});

describe('a regular expression of Ruby', () => {
  const TRANSLATED: Readonly<Record<string, string>> = {
    '/(?<a>\\h+)/': '(?P<a>[0-9a-fA-F]+)',
    '/^a$/': '(?m)^a$',
    '/a/mi': '(?is)a',
    '/{"a": (?<b>.*)}/': '\\{"a": (?P<b>.*)}',
    '/a{2,3}b{,4}/': 'a{2,3}b{0,4}',
    '/[^\\]]*\\/x\\-\\"/': '[^\\]]*/x-"',
    '/[]a]\\<b\\>/': '[\\]a]<b>',
    '/(?i-m:a)\\A\\Z/': '(?i-s:a)\\A\\n?\\z',
    '/[[:alpha:]\\h]/': '[[:alpha:]0-9a-fA-F]',
    'a b': 'a b',
  };
  it('is written as Rust has it', () => {
    const made = Object.keys(TRANSLATED).map((ruby) => translateRegexp(ruby));
    expect(made.map((one) => ('source' in one ? one.source : one.problem))).to.deep.equal(
      Object.values(TRANSLATED),
    );
  });
  it('is not translated where Rust has no counterpart', () => {
    const problems = [
      '/a(?=b)/',
      '/a(?!b)/',
      '/(?<=a)b/',
      '/(?<!a)b/',
      '/(a)\\1/',
      '/(?<a>x)\\k<a>/',
      '/(?>a)/',
      '/a++/',
      '/\\R/',
      '/[a/',
    ];
    expect(problems.filter((ruby) => 'source' in translateRegexp(ruby))).to.deep.equal([]);
  });
});

describe('a time format of Ruby', () => {
  it('is written as VRL has it', () => {
    const parse = (text: string) => translateTimeFormat(text, 'parse');
    expect(parse('%d/%b/%Y:%H:%M:%S %z')).to.deep.equal({
      ...{ format: '%d/%b/%Y:%H:%M:%S %z', lacksYear: false, hasComma: false },
    });
    expect(parse('%Y-%m-%dT%H:%M:%S.%NZ')?.format).to.equal('%+');
    expect(parse('%Y-%m-%d %H:%M:%S,%L')).to.deep.include({ format: '%Y-%m-%d %H:%M:%S%.f', hasComma: true });
    expect(parse('%Y-%m-%d %H%M%S,%L')).to.deep.include({ format: '%Y-%m-%d %H%M%S,%3f', hasComma: false });
    expect(parse('%H:%M:%S.%6N %Y-%m-%d')?.format).to.equal('%H:%M:%S%.f %Y-%m-%d');
    expect(parse('%b %d %H:%M:%S')?.lacksYear).to.equal(true);
    expect(parse('%Q')).to.equal(null);
    expect(translateTimeFormat('%S.%L', 'format')?.format).to.equal('%S.%3f');
  });
});

describe('the Ruby in double quotes', () => {
  it('is known where it names the environment, the host or a text', () => {
    expect(readEmbedded('ENV["A_B"]')).to.deep.equal({ kind: 'env', name: 'A_B', fallback: null });
    expect(readEmbedded("ENV['A'] || 'b'")).to.deep.equal({ kind: 'env', name: 'A', fallback: 'b' });
    expect(readEmbedded("ENV.fetch('A', '9')")).to.deep.equal({ kind: 'env', name: 'A', fallback: '9' });
    expect(readEmbedded('ENV["A"] || use_default')).to.deep.equal({ kind: 'env', name: 'A', fallback: null });
    expect(readEmbedded('Socket.gethostname')).to.deep.equal({ kind: 'hostname' });
    expect(readEmbedded('worker_id')).to.deep.equal({ kind: 'worker' });
    expect(readEmbedded('File.read("/x")')).to.deep.equal({ kind: 'unknown' });
  });
});
