/** What is behind a hidden key must not survive, wherever in an event it stands. */
import { expect } from 'chai';
import fc from 'fast-check';
import { DEFAULT_REDACT_KEYS } from '../../../controller/fleet/environments/redact-keys.ts';
import { keyMatcher } from '../../../controller/fleet/samples/key-patterns.ts';
import { limitEvent } from '../../../controller/fleet/samples/limit-event.ts';
import { createRedactor, MASK } from '../../../controller/fleet/samples/redact.ts';
import { cpuMs, patient } from '../../support/harness/patience.ts';

const usual = createRedactor(DEFAULT_REDACT_KEYS);
const CANARY = 'c4n4ry';

describe('patterns of keys', () => {
  for (const [pattern, key, matches] of [
    ['*password*', 'DB_PASSWORD_OLD', true],
    ['*password*', 'passwor', false],
    ['ssn', 'ssn', true],
    ['SSN', 'Ssn', true],
    ['ssn', 'ssns', false],
    ['*_ssn', 'user_ssn', true],
    ['*_ssn', 'ssn', false],
    ['a*b*c', 'a--b--c', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['*', '', true],
    ['*', 'anything', true],
    ['***', 'anything', true],
    ['a.b', 'axb', false],
  ] as const) {
    it(`${pattern} ${matches ? 'hides' : 'shows'} ${JSON.stringify(key)}`, () => {
      expect(keyMatcher([pattern])(key)).to.equal(matches);
    });
  }

  it('hide nothing where there are none, and always a key that is too long to look at', () => {
    expect(keyMatcher([])('password')).to.equal(false);
    expect(keyMatcher([])('x'.repeat(300))).to.equal(false);
    expect(keyMatcher(['ssn'])('x'.repeat(300))).to.equal(true);
  });

  it('are quick, whatever the pattern and the key', () => {
    const hides = keyMatcher(Array.from({ length: 100 }, (_, n) => `${'*a'.repeat(49)}${n % 10}`));
    const startedAt = cpuMs();
    for (let n = 0; n < 1_000; n += 1) hides(`${'a'.repeat(250)}${n}`);
    expect(cpuMs() - startedAt).to.be.below(patient(1_500));
  });
});

describe('a line of text', () => {
  for (const [line, shown] of [
    ['password=c4n4ry user=bob', 'password=[redacted] user=bob'],
    ['user=bob&token=c4n4ry&x=1', 'user=bob&token=[redacted]&x=1'],
    ['password: c4n4ry', 'password: [redacted]'],
    ['db.password = "c4n4ry two", ok', 'db.password = "[redacted]", ok'],
    ["db-password='c4n4ry'", "db-password='[redacted]'"],
    ['INFO {"password":"c4n4ry","a":1} done', 'INFO {"password":"[redacted]","a":1} done'],
    ['INFO {"password" : "c4\\"n4ry","a":1}', 'INFO {"password" : "[redacted]","a":1}'],
    ['x "{\\"password\\":\\"c4n4ry\\",\\"a\\":1}"', 'x "{\\"password\\":\\"[redacted]\\",\\"a\\":1}"'],
    ['INFO {"password":123,"a":1}', 'INFO {"password":[redacted],"a":1}'],
    ['INFO {"secrets":{"a":"c4n4ry"}} more', 'INFO {"secrets":[redacted]'],
    ['Authorization: Bearer c4n4ry', 'Authorization: [redacted]'],
    ["curl -H 'Authorization: Basic c4n4ry' http://x", "curl -H 'Authorization: [redacted]' http://x"],
    ['Cookie: a=c4n4ry; b=c4n4ry\nHost: x', 'Cookie: [redacted]\nHost: x'],
    ['x-auth-token: Bearer c4n4ry, ok', 'x-auth-token: [redacted]'],
    ['INFO x-auth-token: Bearer c4n4ry, ok', 'INFO x-auth-token: [redacted], ok'],
    ['password: c4n4ry two three\nuser: bob', 'password: [redacted]\nuser: bob'],
    ['db.password = c4n4ry two\nuser = bob', 'db.password = [redacted]\nuser = bob'],
    ['password: |\n  c4n4ry\n\n  c4n4ry\nuser: bob', 'password: [redacted]\nuser: bob'],
    ['- a: 1\n  password: >-\r\n    c4n4ry\r\n  b: 2', '- a: 1\n  password: [redacted]\n  b: 2'],
    ['- password: !!binary | # b\n    c4n4ry\n  b: 2', '- password: [redacted]\n  b: 2'],
    ['password:\n  c4n4ry\nuser: bob', 'password:\n  [redacted]\nuser: bob'],
    ['tokens:\n- c4n4ry\n- c4n4ry\nuser: bob', 'tokens:\n[redacted]\nuser: bob'],
    ['tokens: [c4n4ry,\n  c4n4ry]\nuser: bob', 'tokens: [redacted]'],
    ['password: &a c4n4ry', 'password: [redacted]'],
    ['x {"y":"password: |\\n  c4n4ry\\n"}', 'x {"y":"password: [redacted]'],
    ['x {"password":\n  "c4n4ry",\n"a":1}', 'x {"password":\n  "[redacted]",\n"a":1}'],
    ['x {"y":"a: 1\\nssn: c4n4ry\\n"}', 'x {"y":"a: 1\\nssn: [redacted]"}'],
    ['password:\n\nuser: bob', 'password:\n\nuser: bob'],
    ['error: no password:\n  user: bob', 'error: no password:\n  user: bob'],
    ['{"pass\\u0077ord":"c4n4ry"}\n{"a":1}', '{"pass\\u0077ord":"[redacted]"}\n{"a":1}'],
    ['password := c4n4ry', 'password := [redacted]'],
    ['password=>c4n4ry', 'password=>[redacted]'],
    ['"the password":"c4n4ry"', '"the password":"[redacted]"'],
    ['password="c4n4ry', 'password="[redacted]'],
    ['password=', 'password='],
    ['"x, password=""c4n4ry"", a=""b"""', '"x, password=[redacted]'],
    ['at 10:00 user=bob: ok', 'at 10:00 user=bob: ok'],
    ['password=[redacted] a', 'password=[redacted] a'],
    ['password=[redacted]c4n4ry', 'password=[redacted]'],
  ]) {
    it(`${JSON.stringify(line)} becomes ${JSON.stringify(shown)}`, () => {
      expect(usual.text(line ?? '')).to.equal(shown);
      expect(usual.text(shown ?? '')).to.equal(shown);
    });
  }

  it('is gone through once, however it is made', () => {
    for (const piece of [
      'password=',
      '":',
      'a":"',
      "password: '",
      '\\"',
      '= ',
      '[',
      'token:{',
      'x=y:',
      'password: |\n',
      'password:\n\n',
      'password: & ',
      '- ',
      '"\\u0070',
      '   :',
    ]) {
      const text = piece.repeat(200_000 / piece.length);
      const startedAt = cpuMs();
      usual.text(text);
      expect(cpuMs() - startedAt, piece).to.be.below(patient(1_000));
    }
  });
});

describe('an event', () => {
  it('keeps its keys and shape, and loses what is behind hidden ones', () => {
    const event = {
      message: `{"user":"bob","nested":{"api_key":"${CANARY}"}}`,
      headers: [
        { name: 'Authorization', value: CANARY },
        { name: 'host', value: 'x' },
      ],
      password: { old: [CANARY], new: CANARY },
      card_number: 4_242,
      line: `login token=${CANARY}`,
      n: 1,
      none: null,
      pairs: [
        ['Authorization', CANARY],
        ['host', 'x'],
      ],
    };
    expect(usual.value(event)).to.deep.equal({
      message: `{"user":"bob","nested":{"api_key":"${MASK}"}}`,
      headers: [
        { name: 'Authorization', value: MASK },
        { name: 'host', value: 'x' },
      ],
      password: MASK,
      card_number: MASK,
      line: `login token=${MASK}`,
      n: 1,
      none: null,
      pairs: [
        ['Authorization', MASK],
        ['host', 'x'],
      ],
    });
  });

  it('shows JSON in a text as it was written, where nothing in it is hidden', () => {
    const message = '{ "b": 1.0,  "a": 12345678901234567890 }';
    expect(usual.value({ message })).to.deep.equal({ message });
  });

  it('does not show the first of two keys of one name in JSON', () => {
    for (const message of [
      `{"password":"${CANARY}","password":"${MASK}"}`,
      `{"a":{"password":"${CANARY}"},"a":1}`,
    ])
      expect(JSON.stringify(usual.value({ message }))).not.to.include(CANARY);
  });

  it('hides by the keys of the environment, and nothing by none', () => {
    const own = createRedactor(['phone*']);
    expect(own.value({ phone_home: CANARY, password: 'x' })).to.deep.equal({
      phone_home: MASK,
      password: 'x',
    });
    expect(createRedactor([]).value({ password: 'x' })).to.deep.equal({ password: 'x' });
  });

  it('survives JSON that is nested thousands of levels deep in a text', () => {
    const message = `${'['.repeat(5_000)}{"password":"${CANARY}"}${']'.repeat(5_000)}`;
    expect(JSON.stringify(usual.value({ message }))).not.to.include(CANARY);
  });
});

const hiddenKey = fc.constantFrom(
  'password',
  'DB_PASSWORD',
  'apiKey',
  'x-api-key',
  'Set-Cookie',
  'ssn',
  'authorization',
);
const plainKey = fc.string({ maxLength: 8 });
/** Events in which the canary stands behind hidden keys only. */
const { node } = fc.letrec((tie) => ({
  secret: fc.oneof(
    fc.constant(CANARY),
    fc.constant([CANARY]),
    fc.constant({ a: CANARY }),
    fc.constant(`${CANARY} ${CANARY}`),
  ),
  hidden: fc.tuple(hiddenKey, tie('secret')).map(([key, value]) => ({ [key]: value })),
  line: fc
    .tuple(fc.string(), hiddenKey, fc.constantFrom('=', ': ', ' = ', '="', ":'", ' => '))
    .map(([before, key, sign]) => `${before} ${key}${sign}${CANARY}`),
  json: tie('node').map((value) => JSON.stringify(value)),
  prefixed: tie('node').map((value) => `INFO ${JSON.stringify(value)}`),
  node: fc.oneof(
    { maxDepth: 5, depthSize: 'large', withCrossShrink: true },
    fc.string(),
    fc.integer(),
    fc.constant(null),
    tie('hidden'),
    tie('line'),
    tie('json'),
    tie('prefixed'),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(plainKey, tie('node'), { maxKeys: 4 }),
  ),
}));

const shapeOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(shapeOf)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]))
      : typeof value;

describe('any event', () => {
  it('loses every canary, and redacting it again changes nothing', () => {
    fc.assert(
      fc.property(node, (event) => {
        const shown = usual.value(event);
        expect(JSON.stringify(shown) ?? '').not.to.include(CANARY);
        expect(usual.value(shown)).to.deep.equal(shown);
      }),
      { numRuns: 4_000 },
    );
  });

  it('keeps its shape where no key is hidden', () => {
    const none = createRedactor(['\u0001']);
    fc.assert(
      fc.property(fc.jsonValue(), (event) => {
        expect(shapeOf(none.value(event))).to.deep.equal(shapeOf(event));
      }),
    );
  });

  it('is redacted to a fixed point, also where it is only text', () => {
    const text = fc
      .array(
        fc.constantFrom(
          ...['password', 'token', '=', ':', '"', "'", '\\', '{', '}', '[', ']', ' ', ',', '\n', 'a', MASK],
          ...['cookie', 'Bearer', '{"password":1}', '\\"', '&'],
        ),
        { maxLength: 14 },
      )
      .map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (line) => {
        const once = usual.text(line);
        expect(usual.text(once)).to.equal(once);
      }),
      { numRuns: 10_000 },
    );
  });

  it('is bounded in size and depth, and can be stored', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 100, max: 2_000 }), (event, chars) => {
        const text = JSON.stringify(limitEvent(event, chars));
        expect(text.length).to.be.below(chars * 2 + 1_000);
        expect(text).not.to.match(/\\u0000|\\ud[89a-f]/i);
      }),
    );
  });
});
