/** Credentials in VRL programs: masked for a model, in a program as in the YAML around it, and put back where they were. */
import { expect } from 'chai';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { maskTyped, unmaskTyped } from '../../../controller/pipelines/assistant/context/typed-credentials.ts';
import { MASK } from '../../../controller/pipelines/definition/mask.ts';

/** A statement with a credential, the credential, and where it stands. */
const TYPED: readonly [statement: string, credential: string, reason: string][] = [
  ['.api_key = "k3y-of-an-api"', 'k3y-of-an-api', 'assigned to a field'],
  ['password = "hunter2 and more"', 'hunter2 and more', 'assigned to a variable'],
  [`.secret = s'r4w "text" of it'`, 'r4w', 'a raw text'],
  ['.headers."x-api-key" = "k3y-of-an-api"', 'k3y-of-an-api', 'a field with quotes'],
  ['.["auth_token"] = "t0ken-of-it"', 't0ken-of-it', 'a field in brackets'],
  ['. |= {"access_token": "t0ken-of-it", "n": 1}', 't0ken-of-it', 'a key of an object'],
  ['.ok = .token == "t0ken-of-it"', 't0ken-of-it', 'compared'],
  ['if .client_secret != "t0ken-of-it" { abort }', 't0ken-of-it', 'compared in a condition'],
  ['.token = get_env_var("TOKEN") ?? "fallb4ck"', 'fallb4ck', 'in the place of what is missing'],
  ['.token, err = .a || "fallb4ck"', 'fallb4ck', 'in the place of what is false'],
  ['.authorization = "Bearer " + "t0ken-of-it"', 't0ken-of-it', 'added to'],
  ['.authorization = "Bearer t0ken-of-it"', 't0ken-of-it', 'after its scheme'],
  ['.authorization = encode_base64("user:p4ss")', 'user:p4ss', 'inside of a call'],
  ['.sum = encode_base16(hmac(.message, "k3y-of-it", algorithm: "SHA-256"))', 'k3y-of-it', 'a key of hmac'],
  ['.x = encrypt!(.y, "AES-256-CFB", "0123456789abcdef", iv: .z)', '0123456789abcdef', 'a key of a cipher'],
  ['.url = "https://user:p4ss@example.org/x"', 'p4ss', 'in a URL'],
  ['.x = "AKIAIOSFODNN7EXAMPLE"', 'AKIAIOSFODNN7EXAMPLE', 'a key of AWS under any name'],
  ['.x = "ghp_0123456789abcdefghijABCDEFGHIJ012345"', 'ghp_0123456789', 'a token of GitHub'],
  ['.x = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"', 'eyJzdWIiOiIxMjM0In0', 'a JWT'],
  ['# the old one: password = "hunter2 and more"', 'hunter2 and more', 'in a comment'],
  ['.password = "of\n two lines"', 'two lines', 'of two lines'],
  ['.password = "that does not end', 'that does not end', 'without its end'],
];
const HARMLESS: readonly [statement: string, reason: string][] = [
  ['.message = upcase!(string!(.message))', 'no text'],
  ['.level = "error"', 'a name of no credential'],
  [`.password = "\${SVC_SECRET_DB}"`, 'a reference to a secret'],
  [`.authorization = "Bearer \${SVC_SECRET_API}"`, 'a reference after its scheme'],
  ['.password = "[REDACTED]"', 'what stands in the place of one'],
  ['.cookie = "***"', 'signs alone'],
  ['.token = del(.auth.token)', 'a value that comes in'],
  ['.token = replace(.token, "a", "b")', 'arguments of a call that makes it'],
  ['log("the token: is " + .id, level: "info")', 'a name inside of a text'],
  ['.x = hmac(.message, .key, algorithm: "SHA-256")', 'an algorithm'],
  ['.m = "say \\"token: \\" twice"', 'quotes inside of a text'],
  ['if .has_token == "yes" { .a = "b" }', 'a text that is short'],
];
const program = (statements: readonly string[]): string =>
  `.first = "one"\n${statements.join('\n')}\n.last = true`;

describe('a credential in a program', () => {
  for (const [statement, credential, reason] of TYPED)
    it(`is masked, and put back where nothing else changed: ${reason}`, () => {
      const before = program([statement]);
      const masked = maskTyped(before);
      expect(masked).to.include(MASK).and.not.include(credential);
      expect(masked.split('\n')[0]).to.equal('.first = "one"');
      expect(masked.endsWith('\n.last = true')).to.equal(true);
      expect(unmaskTyped(masked, before)).to.equal(before);
      const changed = `.new = 1\n${masked.replace('.last = true', '.last = false')}`;
      expect(unmaskTyped(changed, before)).to.equal(
        `.new = 1\n${before.replace('.last = true', '.last = false')}`,
      );
    });

  for (const [statement, reason] of HARMLESS)
    it(`is not seen in ${reason}`, () => {
      expect(maskTyped(program([statement]))).to.equal(program([statement]));
    });

  it('is masked in YAML too, whatever quotes the program has there', () => {
    for (const [statement, credential] of TYPED)
      for (const source of [statement, program([statement]), `${statement} # an end: it`]) {
        for (const options of [{}, { defaultStringType: 'QUOTE_DOUBLE' as const, lineWidth: 0 }]) {
          const text = maskTyped(stringify({ transforms: { mark: { type: 'remap', source } } }, options));
          expect(text, source).to.include(MASK).and.not.include(credential);
        }
      }
  });

  it('goes to no other name, and is taken in order where a name has several', () => {
    const before = '.token = "first-one"\n.api_key = "another"\n.token = "second-one"';
    const masked = maskTyped(before);
    expect(unmaskTyped(masked, before)).to.equal(before);
    expect(unmaskTyped(`.leak = "${MASK}"`, before)).to.equal(`.leak = "${MASK}"`);
    expect(unmaskTyped(`.token = "${MASK}"`, before), 'which of the two').to.equal(`.token = "${MASK}"`);
    expect(unmaskTyped(`.api_key = "${MASK}"\n.x = 1`, before)).to.equal('.api_key = "another"\n.x = 1');
    expect(unmaskTyped(`.api_key = "${MASK}"`, '.x = 1')).to.include(MASK);
  });

  it('is put back in any program, and nothing else is changed', () => {
    const statement = fc.constantFrom(
      ...TYPED.filter(([, , reason]) => reason !== 'without its end').map(([text]) => text),
      ...HARMLESS.map(([text]) => text),
      "if .a == \"it's\" { .b = 'x' }",
    );
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 12 }), (statements) => {
        const before = program(statements);
        const masked = maskTyped(before);
        expect(unmaskTyped(masked, before)).to.equal(before);
        expect(maskTyped(masked)).to.equal(masked);
        for (const [text, credential] of TYPED)
          if (statements.includes(text)) expect(masked).to.not.include(credential);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'"\\s\'=:.\n a') }), (text) => {
        expect(unmaskTyped(maskTyped(text), text)).to.equal(text);
      }),
    );
  });

  it('is looked for in time that grows with the text alone', function () {
    this.timeout(20_000);
    const rounds = 40_000;
    for (const part of [
      '"',
      '.token = "',
      'a-',
      'password: ',
      '\\"',
      "s'",
      'a://b:',
      '-----BEGIN PRIVATE KEY-----',
      'hmac(',
      'eyJa.',
    ])
      expect(maskTyped(part.repeat(rounds)).length).to.be.at.least(1);
  });
});
