/** Programs on a test event, by the real compiler. */
import verel from '@bpinternal/verel';
import { expect } from 'chai';
import { compileProgram } from '../../../controller/pipelines/engine/vrl/compile-program.ts';
import { testProgram } from '../../../controller/pipelines/engine/vrl/vrl-test.ts';

const EVENT = { message: 'hello', status: '500', list: [1, 2] };
const run = (source: string, purpose: 'program' | 'condition' = 'program') =>
  testProgram(verel, { source, purpose }, EVENT);
const json = (text: string | null): unknown => JSON.parse(text ?? 'undefined');

describe('a program that is tried', () => {
  it('gives the event that leaves and the value of its last expression', () => {
    const tried = run('.status = to_int!(.status)\n.status > 400');
    expect(tried).to.deep.include({ success: true, dropped: false, error: null, diagnostics: [] });
    expect(json(tried.output)).to.deep.equal({ ...EVENT, status: 500 });
    expect(tried.output).to.include('\n  "message": "hello"');
    expect(json(tried.result)).to.equal(true);
  });

  it('makes several events of an array, and a message of what is no object', () => {
    expect(json(run('. = [{"a": 1}, 2]').output)).to.deep.equal([{ a: 1 }, { message: 2 }]);
    expect(json(run('. = 5').output)).to.deep.equal({ message: 5 });
  });

  it('drops the event of an empty array', () => {
    expect(run('. = []')).to.deep.include({ success: true, output: null, dropped: true });
  });

  it('drops the event that it aborts on, and says why', () => {
    expect(run('abort')).to.deep.include({
      success: true,
      output: null,
      result: null,
      dropped: true,
      dropReason: 'the program called abort',
      error: null,
    });
    expect(run('abort "not ours"').dropReason).to.equal('the program called abort: not ours');
  });

  it('says where a call failed, in the error and as a diagnostic', () => {
    const tried = run('.a = "🎉"\n.b = to_int!(.message)');
    expect(tried).to.deep.include({ success: false, output: null, result: null, dropped: false });
    expect(tried.error).to.match(/^function call error for "to_int" at line 2, column 6: Invalid integer/);
    expect(tried.diagnostics).to.have.length(1);
    expect(tried.diagnostics[0]).to.deep.include({
      severity: 'error',
      code: null,
      line: 2,
      column: 6,
      endLine: 2,
      endColumn: 23,
    });
  });

  it('gives what the compiler says with its place, its code and what to do', () => {
    const tried = run('.x = 1\n.a = .b + 1');
    expect(tried).to.deep.include({ success: false, output: null, result: null, error: null });
    expect(tried.diagnostics).to.deep.equal([
      {
        severity: 'error',
        code: 103,
        message:
          "unhandled fallible assignment: this expression is fallible because at least one argument's type cannot be verified to be valid",
        line: 2,
        column: 6,
        endLine: 2,
        endColumn: 12,
        hint: 'or change this to an infallible assignment: .a, err = .b + 1',
      },
    ]);
  });

  it('warns, and runs all the same', () => {
    const tried = run('x = 1\n.a = 2');
    expect(tried.success).to.equal(true);
    expect(tried.diagnostics).to.have.length(1);
    expect(tried.diagnostics[0]).to.deep.include({
      severity: 'warning',
      code: 900,
      hint: 'use the result of this expression or remove it',
    });
  });

  it('says that the end is missing where it is', () => {
    const [found] = run('.a = (1 +').diagnostics;
    expect(found).to.deep.include({ severity: 'error', line: 1, column: 10 });
  });

  it('has places in what was written, whatever the engine sees of it', () => {
    const [found] = run(`.a = "$$ \${SVC_SECRET_WITH_A_LONG_NAME}" + nothing`).diagnostics;
    expect(found).to.deep.include({ severity: 'error', line: 1, column: 44, endColumn: 51 });
  });

  it('takes two dollars for one, and warns of one that a pipeline would take for a variable', () => {
    const program = (dollar: string) => `.a = replace(string!(.message), r'(h)', "[${dollar}1]")`;
    const good = run(program('$$'));
    expect(json(good.output)).to.deep.include({ a: '[h]ello' });
    expect(good.diagnostics).to.deep.equal([]);
    const single = run(program('$'));
    expect(json(single.output)).to.deep.include({ a: '[h]ello' });
    expect(single.diagnostics).to.have.length(1);
    expect(single.diagnostics[0]).to.deep.include({
      severity: 'warning',
      line: 1,
      column: 43,
      endColumn: 45,
      hint: 'write "$$1" for a literal dollar',
    });
  });

  for (const call of ['get_secret("x")', 'xxhash("x")', 'find_vector_metrics("x")']) {
    it(`says that ${call} works on the nodes only`, () => {
      const tried = run(`.a = 1\n.b = ${call}`);
      expect(tried.success).to.equal(false);
      expect(tried.error).to.include('only the engine on a node has');
      expect(tried.diagnostics.map(({ severity, line }) => ({ severity, line }))).to.deep.equal([
        { severity: 'warning', line: 2 },
      ]);
    });
  }

  it('says so too of what compiles and cannot run', () => {
    const tried = run('.a = parse_grok!(string!(.message), "%{WORD:x}")');
    expect(tried.success).to.equal(false);
    expect(tried.error).to.equal('parse_grok cannot run here; it works on the nodes');
    expect(tried.diagnostics[0]).to.deep.include({ severity: 'warning', column: 6, endColumn: 16 });
  });

  it('tells an unknown function from one that lacks', () => {
    const [found] = run('.a = upcas("x")').diagnostics;
    expect(found).to.deep.include({ severity: 'error', code: 105, hint: 'did you mean "upcase"?' });
  });

  it('knows what a condition does to the event', () => {
    expect(run('.status == "500"', 'condition')).to.deep.include({ success: true, dropped: false });
    expect(run('.status == "200"', 'condition')).to.deep.include({
      success: true,
      output: null,
      result: 'false',
      dropped: true,
      dropReason: 'the condition is false',
    });
  });

  it('does not change the event by a condition', () => {
    expect(json(run('.message = "x"\ntrue', 'condition').output)).to.deep.equal(EVENT);
  });

  it('warns of a condition that may give no boolean, which counts as false', () => {
    const tried = run('.message', 'condition');
    expect(tried).to.deep.include({ success: true, dropped: true });
    expect(tried.diagnostics).to.have.length(1);
    expect(tried.diagnostics[0]).to.deep.include({ severity: 'warning', line: 1, column: 1, endColumn: 9 });
  });
});

describe('a program of a pipeline', () => {
  it('has its faults where they were written', () => {
    const { errors } = compileProgram(verel.check, `.a = "$$ \${SVC_SECRET_A}" + nothing`);
    expect(errors.map(({ line, column }) => ({ line, column }))).to.deep.equal([{ line: 1, column: 29 }]);
  });

  it('may call what only the nodes’ engine has', () => {
    const { errors, unknown } = compileProgram(verel.check, '.a = get_secret("x")');
    expect(errors).to.deep.equal([]);
    expect(unknown).to.deep.equal(['the VRL function get_secret']);
  });
});
