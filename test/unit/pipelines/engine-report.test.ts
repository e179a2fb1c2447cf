import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseReport } from '../../../controller/pipelines/engine/validate-config.ts';

interface Row {
  reason: string;
  report: string;
  errors?: { message: RegExp; componentKey: string | null }[];
  unknown?: string[];
}

/** The forms in which Vector reports, by version. */
const VECTOR: Row[] = [
  {
    reason: 'a program in a file that only a node has',
    report: `√ Loaded ["/a.yaml"]

Transform errors
----------------
x Transform "t": Could not open vrl program "/etc/a.vrl": No such file or directory (os error 2)
`,
    unknown: ['the file /etc/a.vrl of "t"'],
  },
  {
    reason: 'an unknown type, to 0.57',
    report: `Failed to load ["/a.yaml"]
--------------------------
x unknown variant \`kafka2\`, expected one of \`aggregate\`, \`kafka\`

in \`sinks.out\`
`,
    unknown: ['the component type kafka2 of "out"'],
  },
  {
    reason: 'an unknown type, from 0.58 on',
    report:
      'Failed to load ["/a.yaml"]\n---\nx sources.in: unknown variant `kafka2`, expected one of `aggregate`\n',
    unknown: ['the component type kafka2 of "in"'],
  },
  {
    reason: 'an unknown word deeper in a component, to 0.57: that is a mistake, not a type',
    report:
      'Failed to load ["/a.yaml"]\n---\nx unknown variant `jso`, expected one of `json`, `text`\n\nin `sinks.out.encoding.codec`\n',
    errors: [{ message: /unknown variant `jso`/, componentKey: 'out' }],
  },
  {
    reason: 'an unknown word deeper in a component, from 0.58 on',
    report:
      'Failed to load ["/a.yaml"]\n---\nx sinks.out.encoding.codec: unknown variant `jso`, expected one of `json`\n',
    errors: [{ message: /unknown variant `jso`/, componentKey: 'out' }],
  },
  {
    reason: 'a field of the wrong type, from 0.58 on',
    report:
      'Failed to load ["/a.yaml"]\n---\nx sources.in.interval: invalid type: string "x", expected f64\n',
    errors: [{ message: /sources\.in\.interval: invalid type/, componentKey: 'in' }],
  },
  {
    reason: 'an input that there is not',
    report: 'Failed to load ["/a.yaml"]\n---\nx Input "nope" for sink "out" doesn\'t match any components.\n',
    errors: [{ message: /^Input "nope" for sink "out"/, componentKey: 'out' }],
  },
  {
    reason: 'a sink without inputs',
    report: 'Failed to load ["/a.yaml"]\n---\nx Sink "out" has no inputs\n',
    errors: [{ message: /has no inputs/, componentKey: 'out' }],
  },
  {
    reason: 'a program that does not compile',
    report: `√ Loaded ["/a.yaml"]

Transform errors
----------------
x Transform "parse":

error[E103]: unhandled fallible assignment
  ┌─ :1:6
  │
1 │ .x = parse_json(.message)
`,
    errors: [
      { message: /^Transform "parse": error\[E103\]: unhandled fallible assignment/, componentKey: 'parse' },
    ],
  },
  {
    reason: 'several at once',
    report:
      'Failed to load ["/a.yaml"]\n---\nx duplicate source id found: in\nx Sink "out" has no inputs\n~ Source "b" has no consumers\n',
    errors: [
      { message: /^duplicate source id found: in$/, componentKey: null },
      { message: /^Sink "out" has no inputs$/, componentKey: 'out' },
    ],
  },
  {
    reason: 'nothing that can be read',
    report: 'something else\nwent wrong\n',
    errors: [{ message: /something else went wrong/, componentKey: null }],
  },
  {
    reason: 'nothing at all',
    report: '',
    errors: [{ message: /refused without a reason/, componentKey: null }],
  },
];

function expectParsed(row: Row, types: ReadonlyMap<string, string> = new Map()): void {
  const parsed = parseReport(row.report, false, types);
  expect(parsed.unknown).to.deep.equal(row.unknown ?? []);
  expect(parsed.errors.map((one) => one.componentKey)).to.deep.equal(
    (row.errors ?? []).map((one) => one.componentKey),
  );
  for (const [index, { message }] of (row.errors ?? []).entries())
    expect(parsed.errors[index]?.message).to.match(message);
}

describe("reading an engine's report", () => {
  for (const row of VECTOR) it(`of ${row.reason}`, () => expectParsed(row));

  it('says nothing of a config that passed, though it has warnings', () => {
    expect(
      parseReport('Loaded with warnings ["/a.yaml"]\n---\n~ Source "in" has no consumers\n', true),
    ).to.deep.equal({
      errors: [],
      unknown: [],
    });
  });

  it('takes a word that is not the type of the component for a mistake, where both reports look alike', () => {
    const report =
      'Failed to load ["/a.yaml"]\n---\nx unknown variant `jso`, expected one of `json`\nin `sinks.out`\n';
    const errors = [{ message: /unknown variant `jso`/, componentKey: 'out' }];
    expectParsed({ reason: '', report, errors }, new Map([['out', 'console']]));
    expectParsed(
      { reason: '', report, unknown: ['the component type jso of "out"'] },
      new Map([['out', 'jso']]),
    );
  });

  it('bounds what it keeps of one entry', () => {
    const report = `Failed to load ["/a.yaml"]\n---\nx ${'y'.repeat(10_000)}\n`;
    expect(parseReport(report, false).errors[0]?.message).to.have.length(2_000);
  });
});

describe("reading the reference engine's own report", () => {
  const engine = join(import.meta.dirname, '../../../dist/headgate-engine');
  let folder = '';
  before(function () {
    if (!existsSync(engine)) this.skip();
    folder = mkdtempSync(join(tmpdir(), 'headgate-report-'));
  });
  after(() => {
    if (folder) rmSync(folder, { recursive: true });
  });

  const IN = 'sources: { in: { type: demo_logs, format: syslog } }\n';
  const rows: (Omit<Row, 'report'> & { config: string; types?: [string, string][] })[] = [
    {
      reason: 'a type that it lacks',
      config: 'sources: { in: { type: kafka } }\nsinks: { out: { type: blackhole, inputs: [in] } }\n',
      types: [['in', 'kafka']],
      unknown: ['the component type kafka of "in"'],
    },
    {
      reason: 'a function that it lacks',
      config: `${IN}transforms: { t: { type: remap, inputs: [in], source: '.x = get_enrichment_table_record!("a", {"b": 1})' } }\nsinks: { out: { type: blackhole, inputs: [t] } }\n`,
      unknown: ['the VRL function get_enrichment_table_record'],
    },
    {
      reason: 'an option that it lacks',
      config: `${IN}sinks: { out: { type: http, inputs: [in], uri: 'http://127.0.0.1:1/', encoding: { codec: json }, tls: { verify_certificate: false } } }\n`,
      types: [['out', 'http']],
      unknown: ['the option tls of "out"'],
    },
    {
      reason: 'an option that there is not',
      config:
        'sources: { in: { type: demo_logs, format: syslog } }\nsinks: { out: { type: blackhole, inputs: [in], ratte: 3 } }\n',
      types: [['out', 'blackhole']],
      errors: [{ message: /unknown field `ratte`/, componentKey: 'out' }],
    },
    {
      reason: 'a codec that there is not',
      config: `${IN}sinks: { out: { type: console, inputs: [in], encoding: { codec: jso } } }\n`,
      types: [['out', 'console']],
      errors: [{ message: /unknown variant `jso`/, componentKey: 'out' }],
    },
    {
      reason: 'an input that there is not',
      config: `${IN}sinks: { out: { type: blackhole, inputs: [nope] } }\n`,
      errors: [{ message: /nope/, componentKey: 'out' }],
    },
    {
      reason: 'a program that does not compile',
      config: `${IN}transforms: { t: { type: remap, inputs: [in], source: '.x = ' } }\nsinks: { out: { type: blackhole, inputs: [t] } }\n`,
      errors: [{ message: /Transform "t"/, componentKey: 't' }],
    },
    {
      reason: 'text that is no YAML',
      config: 'sources: { in: { type',
      errors: [{ message: /./, componentKey: null }],
    },
  ];
  for (const { config, types, ...row } of rows) {
    it(`of ${row.reason}`, () => {
      const file = join(folder, 'pipeline.yaml');
      writeFileSync(file, config);
      let report = '';
      try {
        execFileSync(engine, ['validate', '--no-environment', file], {
          encoding: 'utf8',
          stdio: 'pipe',
          env: {},
        });
        expect.fail('it passed');
      } catch (error) {
        const ended = error as { status?: number; stdout?: string; stderr?: string };
        expect(ended.status).to.equal(78);
        report = `${ended.stdout}${ended.stderr}`;
      }
      expectParsed({ ...row, report }, new Map(types));
    });
  }
});
