/** What an engine's report of a config means: what is wrong with it, and what only this engine lacks. */
import { expect } from 'chai';
import { parseReport } from '../../../controller/pipelines/engine/validate-config.ts';
import { configErrors } from '../engine/support.ts';

const SOURCE = 'sources: {in: {type: demo_logs, format: json}}';

/** As the reference engine reports it. */
function reportOf(sink: string, ...more: string[]) {
  const messages = configErrors(SOURCE, `sinks: {out: {inputs: [in], ${sink}}}`, ...more);
  const text = ['Failed to load ["the config"]', '----', ...messages.map((message) => `x ${message}`)];
  return parseReport(text.join('\n'), false, new Map([['out', /type: (\w+)/.exec(sink)?.[1] ?? '']]));
}

describe('the report of the reference engine', () => {
  const lacking: [sink: string, unknown: string, more?: string | undefined][] = [
    ['type: elasticsearch', 'the component type elasticsearch of "out"'],
    [
      'type: http, uri: "http://h", encoding: {codec: json}, tls: {verify_hostname: false}',
      'the option tls of "out"',
    ],
    ['type: console, encoding: {codec: logfmt}', 'the option codec: logfmt of "out"'],
    ['type: blackhole, buffer: {type: disk, max_size: 268435488}', 'the option buffer.type: disk of "out"'],
    [
      'type: http, uri: "http://h/{{ tenant }}", encoding: {codec: json}',
      'the option templates in uri of "out"',
    ],
    [
      'type: blackhole',
      'the option enrichment_tables of "global"',
      'enrichment_tables: {geo: {type: geoip, path: /tmp/x}}',
    ],
  ];
  for (const [sink, unknown, more] of lacking) {
    it(`leaves ${unknown} to the nodes’ engine`, () => {
      expect(reportOf(sink, ...(more ? [more] : []))).to.deep.equal({ errors: [], unknown: [unknown] });
    });
  }

  it('is an error of the component for a misspelt word', () => {
    const { errors, unknown } = reportOf('type: console, encoding: {codec: jsno}');
    expect(unknown).to.deep.equal([]);
    expect(errors[0]?.componentKey).to.equal('out');
    expect(errors[0]?.message).to.match(/^unknown variant `jsno`, expected one of `json`/);
  });
});
