import { expect } from 'chai';
import { lineTime, mayBeJson, plainText, prettyJson } from '../../../web/src/ui/log/log-text.ts';

const ESC = '\u001b';

describe('the text of a log line', () => {
  const cases: [reason: string, line: string, text: string][] = [
    ['colours', `${ESC}[2m2026${ESC}[0m ${ESC}[38;5;160mERROR${ESC}[0m bad`, '2026 ERROR bad'],
    ['cursor moves', `${ESC}[2K${ESC}[1Gdone`, 'done'],
    ['a link', `${ESC}]8;;http://x${ESC}\\name${ESC}]8;;${ESC}\\ end`, 'name end'],
    ['a title', `${ESC}]0;title\u0007text`, 'text'],
    ['a title without an end', `a ${ESC}]0;rest`, 'a'],
    ['two-character escapes', `a${ESC}Mb`, 'ab'],
    ['a progress bar', '10 %\r20 %', '10 % 20 %'],
    ['nothing to take out', '  indented [31m brackets', '  indented [31m brackets'],
  ];
  for (const [reason, line, text] of cases) {
    it(`is plain: ${reason}`, () => expect(plainText(line)).to.equal(text));
  }

  // A search that begins anew at each of them would not come to its end within the limit of a test.
  it('comes to the end of a line of many unfinished escapes', () => {
    const line = `${ESC}[`.repeat(400_000) + `${ESC}]`.repeat(400_000);
    expect(plainText(line)).to.equal(`${ESC}[`.repeat(400_000));
  });

  it('unfolds what is JSON, and leaves what only looks so', () => {
    expect(mayBeJson('{"a":1}')).to.equal(true);
    expect(mayBeJson('[2026-11-21] {x}')).to.equal(false);
    expect(prettyJson('{"a":{"b":1}}')).to.equal('{\n  "a": {\n    "b": 1\n  }\n}');
    expect(prettyJson('{not json}')).to.equal(null);
  });

  it('tells the day only of lines of another day', () => {
    const now = new Date(2026, 10, 21, 14, 0);
    expect(lineTime(new Date(2026, 10, 21, 9, 3, 7, 512), now)).to.equal('09:03:07.512');
    expect(lineTime(new Date(2026, 10, 20, 9, 3, 7, 512), now)).to.equal('20 Nov 09:03:07.512');
  });
});
