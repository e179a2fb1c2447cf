import { expect } from 'chai';
import { buildErrors } from '../../../examples/engine/config/compile.ts';
import { compileYaml, configErrors } from './support.ts';

const escaped = (text: string) => text.replace(/[.*+?^$()[\]{}|\\]/g, '\\$&');
const SOURCE = 'sources: {in: {type: demo_logs, format: json}}';
const SINK = 'sinks: {out: {type: blackhole, inputs: [in]}}';
const SINK_OF_T = 'sinks: {out: {type: blackhole, inputs: [t]}}';

describe('checks of a configuration', () => {
  const cases: [reason: string, files: string[], message: string | RegExp][] = [
    [
      'an unknown type',
      [SOURCE, 'sinks: {out: {type: kafka, inputs: [in]}}'],
      'unknown variant `kafka`, expected one of `blackhole`, `console`, `file`, `http`, `prometheus_exporter`\nin `sinks.out`',
    ],
    [
      'a type that only looks known',
      [SOURCE, 'sinks: {out: {type: constructor, inputs: [in]}}'],
      /^unknown variant `constructor`/,
    ],
    [
      'an unknown option',
      [SOURCE, 'sinks: {out: {type: blackhole, inputs: [in], colour: red}}'],
      'unknown field `colour`, expected one of `print_interval_secs`, `rate`, `acknowledgements`\nin `sinks.out`',
    ],
    [
      'a wrong type of option',
      ['sources: {in: {type: demo_logs, format: json, interval: soon}}', SINK],
      'invalid type: string, expected a number of at least 0 for `interval`\nin `sources.in`',
    ],
    [
      'a missing option',
      ['sources: {in: {type: demo_logs}}', SINK],
      'missing field `format`\nin `sources.in`',
    ],
    [
      'shuffle without lines',
      ['sources: {in: {type: demo_logs, format: shuffle}}', SINK],
      'A non-empty list of lines is required for the shuffle format\nin `sources.in`',
    ],
    [
      'a missing input',
      [SOURCE, 'sinks: {out: {type: blackhole, inputs: [x]}}'],
      'Input "x" for sink "out" doesn\'t match any components.',
    ],
    [
      'a glob without a match',
      [SOURCE, 'sinks: {out: {type: blackhole, inputs: ["x*"]}}'],
      'Input "x*" for sink "out" doesn\'t match any components.',
    ],
    [
      'a sink without inputs',
      [SOURCE, 'sinks: {out: {type: blackhole}}'],
      'missing field `inputs`\nin `sinks.out`',
    ],
    [
      'an input given twice',
      [SOURCE, 'sinks: {out: {type: blackhole, inputs: [in, in]}}'],
      'Sink "out" has input "in" duplicated 2 times',
    ],
    ['no sources', [SINK], 'No sources defined in the config.'],
    ['no sinks', [SOURCE], 'No sinks defined in the config.'],
    [
      'an id with a dot',
      ['sources: {a.b: {type: demo_logs, format: json}}', 'sinks: {out: {type: blackhole, inputs: [a.b]}}'],
      'Component name "a.b" should not contain a "."',
    ],
    [
      'one id in two kinds',
      [SOURCE, 'sinks: {in: {type: blackhole, inputs: [in]}}'],
      'More than one component with name "in" (source, sink).',
    ],
    [
      'a cycle',
      [
        SOURCE,
        SINK,
        'transforms: {a: {type: filter, inputs: [b], condition: "true"}, b: {type: filter, inputs: [a], condition: "true"}}',
      ],
      'Cyclic dependency detected in the chain [ a -> b -> a ]',
    ],
    [
      'logs into a metric sink',
      [SOURCE, 'sinks: {out: {type: prometheus_exporter, inputs: [in]}}'],
      'Data type mismatch between in (["Log"]) and out (["Metric"])',
    ],
    [
      'metrics into a transform for logs',
      ['sources: {in: {type: internal_metrics}}', SINK_OF_T, 'transforms: {t: {type: dedupe, inputs: [in]}}'],
      'Data type mismatch between in (["Metric"]) and t (["Log"])',
    ],
    [
      'two ways to sample',
      [SOURCE, SINK_OF_T, 'transforms: {t: {type: sample, inputs: [in], rate: 2, ratio: 0.5}}'],
      "Only one value can be provided for either 'rate' or 'ratio', but not both\nin `transforms.t`",
    ],
    [
      'no way to sample',
      [SOURCE, SINK_OF_T, 'transforms: {t: {type: sample, inputs: [in]}}'],
      /^Exactly one value must be provided for either 'rate' or 'ratio'.*\nin `transforms\.t`$/,
    ],
    [
      'two ways to compare',
      [SOURCE, SINK_OF_T, 'transforms: {t: {type: dedupe, inputs: [in], fields: {match: [a], ignore: [b]}}}'],
      'only one of `fields.match` and `fields.ignore` can be set\nin `transforms.t`',
    ],
    [
      'metadata as a field',
      [SOURCE, SINK_OF_T, 'transforms: {t: {type: dedupe, inputs: [in], fields: {match: ["%a"]}}}'],
      '`fields` must hold paths of event fields\nin `transforms.t`',
    ],
    [
      'an option of a transform that only Vector has',
      [SOURCE, SINK_OF_T, 'transforms: {t: {type: sample, inputs: [in], rate: 2, rate_field: n}}'],
      'option "rate_field" is not available in headgate-engine\nin `transforms.t`',
    ],
    [
      'one port for two exporters',
      [
        'sources: {in: {type: internal_metrics}}',
        'sinks: {a: {type: prometheus_exporter, inputs: [in]}, b: {type: prometheus_exporter, inputs: [in]}}',
      ],
      'Resource `tcp 0.0.0.0:9598` is claimed by multiple components: {ComponentKey { id: "a" }, ComponentKey { id: "b" }}',
    ],
    [
      'a host name as API address',
      [SOURCE, SINK, 'api: {enabled: true, address: "localhost:80"}'],
      'invalid socket address syntax\nin `api.address`',
    ],
    [
      'an old API option',
      [SOURCE, SINK, 'api: {enabled: true, playground: false}'],
      'unknown field `playground`, expected `enabled` or `address`\nin `api`',
    ],
    [
      'a reserved route name',
      [SOURCE, SINK, 'transforms: {r: {type: route, inputs: [in], route: {_default: "true"}}}'],
      /reserved name: `_default`/,
    ],
  ];
  for (const [reason, files, message] of cases) {
    it(`refuses ${reason}`, () => {
      const errors = configErrors(...files);
      const matches = errors.some((error) =>
        typeof message === 'string' ? error === message : message.test(error),
      );
      expect(matches, errors.join('\n')).to.equal(true);
    });
  }

  for (const { reason, file, message } of [
    {
      reason: 'both a source and a file for remap',
      file: 'transforms: {t: {type: remap, inputs: [in], source: "", file: "x"}}',
      message: 'Transform "t": must provide exactly one of `source` or `file` or `files` configuration',
    },
    {
      reason: 'a path template without a start',
      file: 'sinks: {o: {type: file, inputs: [in], path: "{{ host }}/x.log", encoding: {codec: json}}}',
      message:
        /^Sink "o": path template references event fields \(\["host"\]\) but has no literal directory prefix/,
    },
    {
      reason: 'a path template that starts at the root',
      file: 'sinks: {o: {type: file, inputs: [in], path: "/{{ host }}.log", encoding: {codec: json}}}',
      message: /^Sink "o": path template has only "\/" as its literal directory prefix/,
    },
    {
      reason: 'an address that is none',
      file: `sinks: {o: {type: http, inputs: [in], uri: "$\{TARGET}", encoding: {codec: json}}}`,
      message: 'Sink "o": invalid uri character',
    },
  ]) {
    it(`finds ${reason} only when it builds`, () => {
      const { sinks, transforms, settings } = compileYaml(SOURCE, SINK, file);
      const errors = [
        ...buildErrors('Transform', transforms, settings.globals),
        ...buildErrors('Sink', sinks, settings.globals),
      ];
      expect(errors).to.have.length(1);
      expect(errors[0]).to.match(typeof message === 'string' ? new RegExp(`^${escaped(message)}$`) : message);
    });
  }

  it('lets the path of a file be free where the manifest says so', () => {
    const free = 'type: file, inputs: [in], path: "{{ host }}/x.log", encoding: {codec: json}';
    for (const more of ['base_dir: /var/log', 'dangerously_allow_unconfined_template_resolution: true']) {
      const { sinks, settings } = compileYaml(SOURCE, `sinks: {o: {${free}, ${more}}}`);
      expect(buildErrors('Sink', sinks, settings.globals)).to.deep.equal([]);
    }
  });

  const HTTP = 'type: http, inputs: [in], uri: "http://a", encoding: {codec: json}';
  for (const file of [
    'sources: {o: {type: demo_logs, format: json, intervall: 1}}',
    'sources: {o: {type: http_server, address: "127.0.0.1:80", adress: x}}',
    'sources: {o: {type: stdin, decoding: {codec: json, json: {losy: true}}}}',
    `sinks: {o: {${HTTP}, batch: {max_evnts: 5}}}`,
    `sinks: {o: {${HTTP}, request: {retry_attemps: 5}}}`,
    `sinks: {o: {${HTTP}, healthcheck: {enabld: false}}}`,
  ]) {
    it(`passes over what Vector passes over: ${file}`, () => {
      expect(configErrors(SOURCE, SINK, file)).to.deep.equal([]);
    });
  }

  for (const file of [
    'sources: {o: {type: stdin, max_lenght: 1}}',
    'sources: {o: {type: internal_metrics, tags: {pid: x}}}',
    'transforms: {o: {type: filter, inputs: [in], condition: "true", odd: 1}}',
    'transforms: {o: {type: dedupe, inputs: [in], cache: {events: 1}}}',
    `sinks: {o: {${HTTP}, uris: x}}`,
    `sinks: {o: {${HTTP}, auth: {strategy: bearer, token: x, user: y}}}`,
  ]) {
    it(`refuses what Vector refuses: ${file}`, () => {
      const [error] = configErrors(SOURCE, SINK, file);
      expect(error).to.match(/^unknown field /);
    });
  }

  it('names the mistakes of several components at once', () => {
    expect(configErrors('sources: {a: {type: x}, b: {type: y}}', SINK)).to.have.length(2);
  });

  it('never repeats a text value in an error, since it may be an expanded secret', () => {
    const [error] = configErrors('sources: {in: {type: demo_logs, format: json, interval: hunter2}}', SINK);
    expect(error).not.to.include('hunter2');
  });

  it('expands globs over ids and ports', () => {
    const { sinks } = compileYaml(
      SOURCE,
      'transforms: {r: {type: route, inputs: [in], route: {a: "true", b: "true"}}}',
      'sinks: {out: {type: blackhole, inputs: ["r.*"]}}',
    );
    expect(sinks[0]?.inputs.map((input) => input.port)).to.deep.equal(['a', 'b', '_unmatched']);
  });

  it('only warns of a source without consumers', () => {
    const { warnings } = compileYaml(SOURCE, SINK, 'sources: {spare: {type: internal_metrics}}');
    expect(warnings).to.deep.equal(['Source "spare" has no consumers']);
  });
});
