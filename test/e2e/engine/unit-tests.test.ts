/** `headgate-engine test` speaks as Vector's does. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Bench, engineBinary } from './support.ts';

const TRANSFORMS = `
sources: {in: {type: demo_logs, format: json}}
transforms:
  parse: {type: remap, inputs: [in], source: '. = parse_json!(.message)', drop_on_error: true, reroute_dropped: true}
  split: {type: route, inputs: [parse], route: {errors: '.level == "error"'}}
sinks: {out: {type: blackhole, inputs: [split.errors, split._unmatched, parse.dropped]}}
`;

describe("the engine's test command", function () {
  this.timeout(30_000);
  let bench: Bench;
  before(engineBinary);
  beforeEach(() => {
    bench = new Bench();
  });
  afterEach(() => bench.dispose());

  const run = (tests: string, ...flags: string[]) =>
    bench.run(['test', bench.file('p.yaml', `${TRANSFORMS}tests:\n${tests}`), ...flags]);

  it('passes events through several transforms, from where they go in to where they are looked at', async () => {
    const { code, stdout, stderr } = await run(`
  - name: an error
    inputs:
      - {insert_at: parse, type: raw, value: '{"level":"error"}'}
      - {insert_at: split, type: log, log_fields: {level: error, a.b: 1}}
      - {insert_at: split, type: vrl, source: '.level = "error"'}
    outputs:
      - {extract_from: split.errors, conditions: ['.level == "error"', {type: vrl, source: '.a.b == 1'}], expected_event_count: 3}
    no_outputs_from: [split._unmatched, parse.dropped]
  - name: no JSON
    input: {insert_at: parse, value: 'no'}
    outputs: [{extract_from: [parse.dropped], conditions: ['.metadata.dropped.reason == "error"']}]
    no_outputs_from: [parse]
`);
    expect({ code, stdout }).to.deep.equal({
      code: 0,
      stdout: 'Running tests\ntest an error ... passed\ntest no JSON ... passed\n',
    });
    expect(stderr).to.match(/Mapping failed with event/);
  });

  it('ends with 78 when one fails, and shows what came out', async () => {
    const { code, stdout } = await run(`
  - {name: good, inputs: [{insert_at: split, type: log, log_fields: {level: error}}], outputs: [{extract_from: split.errors}]}
  - {name: bad, inputs: [{insert_at: split, type: vrl, source: '.level = "error"'}], outputs: [{extract_from: split.errors, conditions: ['.level == "info"']}], no_outputs_from: [split._unmatched]}
  - {name: silent, inputs: [{insert_at: split, type: vrl, source: '.level = "error"'}], outputs: [{extract_from: split._unmatched}], no_outputs_from: [split.errors]}
`);
    expect(code).to.equal(78);
    expect(stdout).to.equal(`Running tests
test good ... passed
test bad ... failed
test silent ... failed

failures:

test bad failed:

check[0] for transforms ["split.errors"] failed conditions:

  condition[0]: source execution resolved to false, but it must resolve to \`true\`

output payloads from ["split.errors"] (events encoded as JSON):
  {"level":"error"}


test silent failed:

checks for transforms ["split._unmatched"] failed: no events received. Topology may be disconnected or transform is missing inputs.

check for transforms ["split.errors"] failed: expected no outputs

`);
  });

  it('runs none where one cannot be built, and says why on the error stream', async () => {
    const { code, stdout, stderr } = await run(`
  - {name: good, inputs: [{insert_at: split, type: vrl, source: '.level = "error"'}], outputs: [{extract_from: split.errors}]}
  - {name: nowhere, inputs: [{insert_at: splat, value: x}], outputs: [{extract_from: split.errors}]}
  - {name: no such output, inputs: [{insert_at: split, value: x}], outputs: [{extract_from: split.nope}]}
  - {name: backwards, inputs: [{insert_at: split, value: x}], outputs: [{extract_from: parse}]}
  - {name: no program, inputs: [{insert_at: split, value: x}], outputs: [{extract_from: split.errors, conditions: ['nope(']}]}
  - {name: nothing, inputs: [{insert_at: split, value: x}]}
`);
    expect({ code, stdout }).to.deep.equal({ code: 78, stdout: 'Running tests\n' });
    expect(stderr).to.match(/^Failed to execute tests:\n\n/);
    for (const text of [
      "Failed to build test 'nowhere':\n  inputs[0]: unable to locate target transform 'splat'",
      "Failed to build test 'no such output':\n  Invalid extract_from target in test 'no such output': 'split.nope' does not exist",
      "Failed to build test 'backwards':\n  Unable to complete topology between input target 'split' and output target(s)",
      "Failed to build test 'no program':\n  failed to create test condition '0': error[E204]: syntax error",
      "Failed to build test 'nothing':\n  unit test must contain at least one of `outputs` or `no_outputs_from`.",
    ]) {
      expect(stderr).to.include(text);
    }
    expect(stderr).not.to.include("test 'good'");
  });

  it('needs neither sources nor sinks, and says so where there are no tests', async () => {
    const { code, stdout } = await bench.run([
      'test',
      bench.file('p.yaml', 'transforms: {t: {type: filter, inputs: [gone], condition: "true"}}\n'),
    ]);
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: 'Running tests\nNo tests found.\n' });
  });

  it('refuses a transform that it does not know, a wrong flag, and a name that two files use', async () => {
    const strange = bench.file(
      's.yaml',
      'transforms: {t: {type: lua, inputs: [in]}}\ntests: [{name: a, inputs: [{insert_at: t, value: x}], no_outputs_from: [t]}]\n',
    );
    const unknown = await bench.run(['test', strange]);
    expect(unknown.code).to.equal(78);
    expect(unknown.stderr).to.match(/unknown variant `lua`, expected one of .*\nin `transforms\.t`/);
    expect((await bench.run(['test', '--colour'])).code).to.equal(2);
    const other = bench.file('o.yaml', 'tests: [{name: a, inputs: [], no_outputs_from: []}]\n');
    expect((await bench.run(['test', strange, other])).stderr).to.include('duplicate test name found: a');
  });

  it('writes a report for build servers', async () => {
    const report = bench.path('junit.xml');
    await run(
      `  - {name: 'a < b', inputs: [{insert_at: split, type: vrl, source: '.level = "x"'}], outputs: [{extract_from: split.errors}]}\n`,
      '--junit-report',
      report,
    );
    const text = readFileSync(report, 'utf8');
    expect(text).to.include('<testsuite name="vector" tests="1" failures="1">');
    expect(text).to.match(/<testcase name="a &lt; b" time="\d\.\d+">\n +<failure type="assertion"/);
  });
});
