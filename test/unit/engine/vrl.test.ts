import { expect } from 'chai';
import { type LogEvent, Timestamp } from '../../../examples/engine/event.ts';
import {
  compileErrors,
  createProgram,
  loadVerel,
  type Verel,
  type VrlSource,
} from '../../../examples/engine/vrl/program.ts';

const program = (text: string): VrlSource => ({ text, purpose: 'program', timestampKey: 'timestamp' });
const condition = (text: string): VrlSource => ({ ...program(text), purpose: 'condition' });

describe('VRL', function () {
  this.timeout(10_000);
  let verel: Verel;
  before(async () => {
    verel = await loadVerel();
  });

  const run = (text: string, event: LogEvent) => createProgram(verel, program(text)).run(event);

  it('renders a compile error with its place in the source', () => {
    const [error] = compileErrors(verel, program('.a = 1\n.b = parse_json(.message)'));
    expect(error).to.match(/^error\[E103\]: unhandled fallible assignment\n {2}┌─ :2:6\n/);
    expect(error).to.include(
      '2 │ .b = parse_json(.message)\n  │      ^^^^^^^^^^^^^^^^^^^^ this expression is fallible',
    );
  });

  it('counts columns in characters where the source is not ASCII', () => {
    const [error] = compileErrors(verel, program('.a = "é€"; .b = nosuch(.a)'));
    expect(error).to.include('┌─ :1:17');
  });

  it('refuses functions that cannot run here, by name', () => {
    const [error] = compileErrors(verel, program('# parse_groks("x")\n.a = parse_grok!(.m, "%{WORD:x}")'));
    expect(error).to.match(/^error\[E105\]: call to undefined function\n {2}┌─ :2:6/);
    expect(error).to.include('function "parse_grok" is not available in headgate-engine');
  });

  it('does not take a field, a text or a comment for a call', () => {
    expect(compileErrors(verel, program('.log = "log(x)" # log(y)'))).to.deep.equal([]);
  });

  it('takes a condition that is a boolean for the compiler, and no other', () => {
    for (const text of [
      '.a == 1',
      'x = .a == 1\nx',
      'exists(.a) && !is_null(.b)',
      '.a == "x = .b = 1" # .c = 2',
    ]) {
      expect(compileErrors(verel, condition(text)), text).to.deep.equal([]);
    }
    for (const text of ['.a', '"text"', '1 + 1']) {
      expect(compileErrors(verel, condition(text))).to.deep.equal(['VRL conditions must return a boolean.']);
    }
  });

  it('refuses a condition that changes the event', () => {
    for (const text of [
      '.a = 1\ntrue',
      '.a."b c" = 1; true',
      '%m = 1\ntrue',
      'del(.a)\ntrue',
      '. |= {}\ntrue',
    ]) {
      const [error] = compileErrors(verel, condition(text));
      expect(error, text).to.match(/^error\[E315\]: mutation of read-only value/);
    }
  });

  it('changes an event without touching the one it was given', () => {
    const event = { message: 'x' };
    const outcome = run('.message = upcase(string!(.message))', event);
    expect(outcome).to.deep.include({ type: 'done', event: { message: 'X' } });
    expect(event).to.deep.equal({ message: 'x' });
  });

  it('shows the time field as a time, and gives it back as one with all its digits', () => {
    const event = { timestamp: new Timestamp('2020-01-01T00:00:00.123456Z') };
    const outcome = run('.seconds = to_unix_timestamp!(.timestamp)', event);
    expect(outcome.type === 'done' && outcome.event).to.deep.equal({ ...event, seconds: 1577836800 });
  });

  it('tells an abort from a failure', () => {
    expect(run('abort', {})).to.deep.equal({ type: 'abort', message: 'aborted' });
    expect(run('abort "no thanks"', {})).to.deep.equal({ type: 'abort', message: 'no thanks' });
    const failed = run('.a = parse_json!(.message)', { message: '{' });
    expect(failed.type).to.equal('error');
    expect(failed).to.have.property('message').that.includes('function call error for "parse_json"');
  });
});
