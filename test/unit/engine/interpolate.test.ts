// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are what is tested here
import { expect } from 'chai';
import { ConfigError } from '../../../examples/engine/config/config-error.ts';
import { interpolate } from '../../../examples/engine/config/interpolate.ts';

const env = { NAME: 'anna', EMPTY: '', 'A.B': 'dotted', PEM: 'one\ntwo', SVC_SECRET_KEY: 'a$b' };

describe('expansion of variables in configuration text', () => {
  const cases: [text: string, expected: string, reason: string][] = [
    ['$NAME', 'anna', 'a bare name'],
    ['${NAME}!', 'anna!', 'a name in braces'],
    ['${A.B}', 'dotted', 'a dot in a name'],
    ['${EMPTY:-x}', 'x', ':- also covers an empty value'],
    ['${EMPTY-x}', '', '- covers an unset one only'],
    ['${UNSET-x}', 'x', '- gives the default'],
    ['${UNSET:-}', '', 'a default may be empty'],
    ['${UNSET:-a}b}', 'ab}', 'a default ends at the first brace'],
    ['$$1 $$NAME', '$1 $NAME', 'two dollars are one'],
    ['${SVC_SECRET_KEY}', 'a$b', 'a value goes in verbatim and is not expanded again'],
    ['a $ b', 'a $ b', 'a lone dollar stays'],
  ];
  for (const [text, expected, reason] of cases) {
    it(`reads ${text}: ${reason}`, () => {
      expect(interpolate(text, env)).to.equal(expected);
    });
  }

  const failures: { text: string; message: string }[] = [
    { text: '${UNSET}', message: 'Missing environment variable in config. name = "UNSET"' },
    { text: '"$1"', message: 'Missing environment variable in config. name = "1"' },
    { text: '${PEM:-x}', message: 'Environment variable contains newline character. name = "PEM"' },
    {
      text: '${EMPTY:?say it}',
      message: 'Non-empty environment variable required in config. name = "EMPTY", error = "say it"',
    },
  ];
  for (const { text, message } of failures) {
    it(`refuses ${text}`, () => {
      expect(() => interpolate(text, env)).to.throw(ConfigError, message);
    });
  }

  it('names every missing variable at once', () => {
    try {
      interpolate('${ONE} ${TWO} ${ONE}', {});
      expect.fail('nothing was thrown');
    } catch (error) {
      expect((error as ConfigError).messages).to.have.length(2);
    }
  });
});
