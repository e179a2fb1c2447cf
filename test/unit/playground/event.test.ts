import { expect } from 'chai';
import { checkEvent } from '../../../controller/pipelines/playground/event.ts';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

function refusal(text: string): DomainError {
  try {
    checkEvent(text);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('the text of a test event', () => {
  it('is taken as the JSON of one object', () => {
    for (const text of ['{}', ' {"a": {"b": [1, null]}}\n', `{"a": "${'x'.repeat(60_000)}"}`])
      checkEvent(text);
  });

  const refused: { text: string; line: number; column: number; reason: string }[] = [
    { text: '', line: 1, column: 1, reason: 'nothing at all' },
    { text: '{"a": 1', line: 1, column: 8, reason: 'no end' },
    { text: '{"a": x}', line: 1, column: 7, reason: 'a word' },
    { text: "{'a': 1}", line: 1, column: 2, reason: 'the wrong quotes' },
    { text: '{"a": 1,}', line: 1, column: 9, reason: 'a comma too many' },
    { text: '{\n  "a": 1\n  "b": 2\n}', line: 3, column: 3, reason: 'a comma too few' },
    { text: '{"a": tru, "b": 1}', line: 1, column: 10, reason: 'half a word' },
    { text: '{"a": "\n"}', line: 1, column: 8, reason: 'a line break in a text' },
    { text: '{"a": 1} {"b": 2}', line: 1, column: 10, reason: 'two objects' },
    { text: '[{"a": 1}]', line: 1, column: 1, reason: 'a list' },
    { text: '\n "text"', line: 2, column: 2, reason: 'a text' },
    { text: 'null', line: 1, column: 1, reason: 'null' },
  ];
  for (const { text, line, column, reason } of refused) {
    it(`is refused with its place for ${reason}`, () => {
      const { code, message, details } = refusal(text);
      expect(code).to.equal('BAD_REQUEST');
      expect(message, message).to.match(
        /^input is .* \(line \d+, column \d+\); write one object, for example \{/,
      );
      expect(details, message).to.deep.equal({ line, column });
    });
  }

  it('is refused where it is too large or too deep', () => {
    expect(refusal(`{"a": "${'ä'.repeat(40_000)}"}`).message).to.include('larger than 64 KiB');
    expect(refusal(`{"a": ${'['.repeat(5_000)}${']'.repeat(5_000)}}`).message).to.include('64 levels');
  });

  it('is found wrong in no time, however long it is', () => {
    const started = cpuMs();
    refusal(`{"a": [${'1,'.repeat(30_000)}x]}`);
    expect(cpuMs() - started).to.be.below(patient(2_000));
  });
});
