/** Credentials in the text of an original: none is shown, whatever it is written like, and the rest of the text stays. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  listHidden,
  maskOriginal,
  withoutHidden,
} from '../../../controller/pipelines/migration/original/mask-original.ts';
import { CREDENTIALS, FLUENTD_CONFIGS, translateText } from '../../support/fixtures/fluentd-configs.ts';

const MASK = '••••••';

/** A text, what readers see of it, and why. */
const MASKED: readonly (readonly [string, string, string])[] = [
  ['password hunter2', `password ${MASK}`, 'a value without quotes'],
  ['\t password \t"hunter2" # old', `\t password \t${MASK}`, 'a value with a comment behind it'],
  ['password hunter2\r\nport 80\r\n', `password ${MASK}\r\nport 80\r\n`, 'a file from Windows'],
  ['password hunter2\u2028x\nport 80', `password ${MASK}\nport 80`, 'a line separator of Unicode'],
  ['password "a\nb"\nport 80', `password ${MASK}\n${MASK}\nport 80`, 'a text over lines'],
  ['password "a\\\\"\nport 80', `password ${MASK}\nport 80`, 'a text that ends with a backslash'],
  ['password "a\\"\nb"\nport 80', `password ${MASK}\n${MASK}\nport 80`, 'an escaped quote'],
  ['password "#{x "q"}\nb"\nport 80', `password ${MASK}\n${MASK}\nport 80`, 'Ruby with quotes in a text'],
  ["password 'a\nb'\nport 80", `password ${MASK}\n${MASK}\nport 80`, 'single quotes over lines'],
  ['password {"a":"}",\n"b":"c"}\nport 80', `password ${MASK}\n${MASK}\nport 80`, 'a hash over lines'],
  ['password "hunter2\nport 80', `password ${MASK}\n${MASK}`, 'a text that does not end'],
  ['#password hunter2', `#password ${MASK}`, 'a parameter that is commented out'],
  ['# password "a\n# b"\nport 80', `# password ${MASK}\n${MASK}\nport 80`, 'a comment over lines'],
  [
    '# password "a\\"\n# b"\nport 80',
    `# password ${MASK}\n${MASK}\nport 80`,
    'an escaped quote in a comment',
  ],
  ['# password {"a":\n# "b"}\nport 80', `# password ${MASK}\n${MASK}\nport 80`, 'a hash in comments'],
  ['# password "a" or "b"\n# x', `# password ${MASK}\n# x`, 'a comment whose text ends in its line'],
  ['# the password: hunter2', `# the password: ${MASK}`, 'a note'],
  ['"password" hunter2', `"password" ${MASK}`, 'a name in quotes'],
  [`password "#{ENV['X'] || 'hunter2'}"`, `password ${MASK}`, 'the default of a variable'],
  [`password "#{ENV.fetch('X', 'hunter2')}"`, `password ${MASK}`, 'the default of fetch'],
  [`password "#{'hunter2'}"`, `password ${MASK}`, 'a text in Ruby'],
  ['password ${a}hunter2${b}', `password ${MASK}`, 'a text between placeholders'],
  ['h {"api_key":"a"}', `h {"api_key":"${MASK}"}`, 'a field of a hash'],
  ['h {"api_key": 1234567, "n": 1}', `h {"api_key": ${MASK}, "n": 1}`, 'a number'],
  ['h {"token":["a","b"]}', `h {"token":${MASK}}`, 'a list'],
  ['h {"secret":{"v":\n"a"}, "n": 1}', `h {"secret":${MASK}\n${MASK}, "n": 1}`, 'an object over lines'],
  ['h {"Authorization":\n  "a b"}', `h {"Authorization":\n  "${MASK}"}`, 'a value in the next line'],
  ['h {"token": # c\n  "a b"}', `h {"token": # c\n  "${MASK}"}`, 'a value behind a comment'],
  ['h "{\\"token\\":\\"a b\\"}"', `h "{\\"token\\":\\"${MASK}\\"}"`, 'a hash in a text'],
  ["h {'token' => 'a'}", `h {'token' => '${MASK}'}`, 'a hash of Ruby'],
  ['headers Authorization:a b,X-Y:z', `headers Authorization:${MASK},X-Y:z`, 'a list of headers'],
  ['headers token=$hunter2', `headers token=${MASK}`, 'a value with a dollar'],
  ['c curl -H "X-Api-Key: a b" h', `c curl -H "X-Api-Key: ${MASK}" h`, 'a header of a command'],
  ['c mysql --password hunter2 db', `c mysql --password ${MASK} db`, 'an option of a command'],
  ['c mysql --password=hunter2', `c mysql --password=${MASK}`, 'an option with its sign'],
  ['c curl -u me:hunter2 h', `c curl -u me:${MASK} h`, 'a user with a password'],
  ['url http://u:hun@ter2@h/x', `url http://u:${MASK}@h/x`, 'a password in a URL'],
  ['url http://h/p?token=a&b=c', `url http://h/p?token=${MASK}&b=c`, 'a query of a URL'],
  [
    'endpoint https://hooks.slack.com/services/T0/B0/x',
    `endpoint https://hooks.slack.com/${MASK}`,
    'a webhook',
  ],
  ['webhook_url https://h/x', `webhook_url ${MASK}`, 'a parameter that is a webhook'],
  ['h X:Bearer abcdefgh', `h X:Bearer ${MASK}`, 'a bearer token'],
  ['h ghp_0123456789abcdefghijklmn', `h ${MASK}`, 'a token of a forge'],
  [
    'k "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----"',
    `k "${MASK}\n${MASK}\n${MASK}"`,
    'a private key',
  ],
  ['k c;AccountKey=a==;d=e', `k c;AccountKey=${MASK}`, 'a connection string'],
];

/** What stays readable, and why. */
const SHOWN: readonly (readonly [string, string])[] = [
  [`password "#{ENV['X']}"`, 'a variable of the environment'],
  [`password "#{ENV["X"] || use_nil}"`, 'a variable without a default'],
  ['password ${record["password"]}', 'a field of the record'],
  ['password ${SVC_SECRET_ES_PASSWORD}', 'the placeholder of a secret'],
  ['use_token true', 'a switch'],
  ['token_count 12', 'a small number'],
  ['password_file /run/secrets/x', 'the path of a file'],
  ['sasl_mechanism plain', 'a name that only begins alike'],
  ['key_name password', 'the name of a field'],
  ['remove_keys password,token', 'names of fields'],
  ['<match password.**>', 'a pattern'],
  ['password', 'a name without a value'],
  ['pattern /(?<token>[^ ]+)/', 'the group of an expression'],
  ['url http://h:9200/a@b', 'a port before an @'],
];

describe('a masked original', () => {
  for (const [text, masked, reason] of MASKED) {
    it(`hides ${reason}: ${JSON.stringify(text).slice(0, 60)}`, () => {
      expect(maskOriginal(text)).to.equal(masked);
    });
  }
  for (const [text, reason] of SHOWN) {
    it(`shows ${reason}: ${text}`, () => {
      expect(maskOriginal(text)).to.equal(text);
    });
  }

  it('has no credential of the configurations in use, and each that the rules make a secret of', () => {
    for (const { name, text } of FLUENTD_CONFIGS) {
      const masked = maskOriginal(text);
      expect(masked, name).not.to.match(CREDENTIALS);
      for (const { message, line } of translateText(text).translations.flatMap(({ notes }) => notes)) {
        if (!/^Create the secret "[^"]*" with the value of [a-z_]+\.$/.test(message) || line === null)
          continue;
        const [written, shown] = [text, masked].map((one) => one.split('\n')[line - 1]);
        if (!written?.includes(message.slice(message.lastIndexOf(' ') + 1, -1))) continue;
        expect(shown, `${name}:${line} ${message}`).not.to.equal(written);
      }
    }
  });
});

const secret = fc.stringMatching(/^[a-z]{5}[0-9]{4}[a-z]{5}$/).map((text) => `Q${text}`);
const name = fc.constantFrom(
  ...[
    'password',
    'api_key',
    'shared_key',
    'client_key_pass',
    'http_token',
    'aws_sec_key',
    'splunk_hec_token',
  ],
);
const feed = fc.constantFrom('\n', '\r\n');
const write = fc.constantFrom<((key: string, value: string, feed: string) => string)[]>(
  (key, value) => `${key} ${value}`,
  (key, value) => `  ${key}\t"${value}"`,
  (key, value) => `${key} '${value}' # c`,
  (key, value, end) => `${key} "a${end}  ${value}"`,
  (key, value, end) => `# ${key} "a${end}#  ${value}"`,
  (key, value, end) => `headers {"n":1,${end}"${key}" : "${value}"}`,
  (key, value, end) => `headers {"${key}":${end}  ["${value}"]}`,
  (key, value) => `headers "{\\"${key}\\": \\"${value}\\"}"`,
  (key, value) => `command run --${key}=${value} x`,
  (key, value) => `endpoint https://h/p?a=b&${key}=${value}`,
  (_, value) => `endpoint https://user:${value}@h/p`,
);
const plain = fc.constantFrom('port 9200', '<match a.**>', '  @type http', '# a comment', 'n {"a":"b"}', '');
const original = fc.record({
  ...{ before: fc.array(plain, { maxLength: 3 }), after: fc.array(plain, { maxLength: 3 }) },
  ...{ key: name, value: secret, form: write, end: feed },
});

describe('a text with a credential', () => {
  it('has as many lines as before, the same ones around it, and no credential', () => {
    fc.assert(
      fc.property(original, ({ before, after, key, value, form, end }) => {
        const text = [...before, form(key, value, end), ...after].join(end);
        const lines = maskOriginal(text).split('\n');
        expect(lines.join('\n')).not.to.include(value);
        expect(lines).to.have.length(text.split('\n').length);
        const around = text.split('\n');
        expect(lines.slice(0, before.length)).to.deep.equal(around.slice(0, before.length));
        if (after.length > 0) expect(lines.slice(-after.length)).to.deep.equal(around.slice(-after.length));
      }),
      { numRuns: 500 },
    );
  });

  it('is not changed by masking it once more, whatever it is', () => {
    const text = fc.array(
      fc.oneof(plain, fc.constantFrom('"', "'", '{', '}', '\\', ':', '=', '#', ' ', '\n'), name, secret),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(text, (parts) => {
        const once = maskOriginal(parts.join(''));
        expect(maskOriginal(once)).to.equal(once);
      }),
      { numRuns: 500 },
    );
  });

  it('is masked in time, however hostile it is', function () {
    this.timeout(60_000);
    const units = [
      '"token":[',
      'token=',
      '"token"#',
      'eyJ-',
      '# password [\n\nx\n',
      "password '\n",
      '\r',
      '\\"',
    ];
    for (const unit of units) {
      const at = performance.now();
      maskOriginal(unit.repeat(512_000 / unit.length));
      // In proportion to the text it takes 1 s; what is quadratic takes hours.
      expect(performance.now() - at, JSON.stringify(unit)).to.be.below(20_000);
    }
  });
});

describe('a message about an original', () => {
  it('quotes no value that is hidden, nor the part of it that is quoted of long ones', () => {
    const long = `x${'y'.repeat(200)}`;
    const hidden = listHidden(
      `url http://u:hunter2@h\npassword "two words\nand three"\ntoken ${long}\nport 80`,
    );
    expect(withoutHidden('hunter2, then two words and three at port 80', hidden)).to.equal(
      `${MASK}, then ${MASK} ${MASK} at port 80`,
    );
    expect(withoutHidden(`"${long.slice(0, 100)}…"`, hidden)).to.equal(`"${MASK}…"`);
  });

  it('is not changed by values of fewer than four characters', () => {
    expect(listHidden('password abc')).to.deep.equal([]);
  });
});
