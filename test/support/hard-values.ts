// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what engines expand
/** Values that secrets may have, and texts that configs are made of read as something else. */
import fc from 'fast-check';

export const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQ/+'.repeat(8)}\n${'AgEAAoIB'.repeat(8)}==\n-----END PRIVATE KEY-----\n`;

export const HARD_VALUES: readonly string[] = [
  'true',
  '1e5',
  '@x',
  'a: b',
  '123456',
  '0123',
  'abc #def',
  '  blanks at the ends  ',
  '"quoted" and \'quoted\'',
  'back\\slash\\n',
  '{{ host }} \\{{ x }} \\}} }}',
  '${SVC_SECRET_OTHER} $HOME $$',
  'x"; .admin = true; .y = "',
  "x'; .admin = true; .y = s'",
  '- list\n- of\r\n\tlines\n',
  '| > ? ! & * % ` [ ] { } ,',
  '~',
  'null',
  '.inf',
  '2026-01-31',
  'ü\u{1f511} ',
  PEM,
  '{"type": "service_account", "private_key": "-----BEGIN\\nx"}',
  // As AWS Secrets Manager makes passwords.
  'x5#R}e:L`8"w',
  '>V/Jw,*q\\k=2%',
  "&'[s]|^~;?_-)",
];

const PARTS = [
  '"',
  "'",
  '\\',
  '$',
  '${X}',
  '$$',
  '#',
  ' #',
  ': ',
  '- ',
  '{{',
  '}}',
  '\\}',
  '\n',
  '\r',
  '\t',
  ' ',
];

/** Text of any characters but NUL, full of what means something in YAML, VRL and to the engine. */
export const hardValue: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom(...HARD_VALUES),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
    fc
      .array(fc.oneof(fc.constantFrom(...PARTS), fc.string({ unit: 'grapheme', maxLength: 4 })), {
        minLength: 1,
        maxLength: 12,
      })
      .map((parts) => parts.join('')),
  )
  .map((text) => text.replaceAll('\0', '0'))
  .filter((text) => text !== '' && text.isWellFormed());

/** The compiler of VRL that tests run knows no `\u{…}`, which such a character needs; the engine does since 0.57. */
export const needsUnicodeEscape = (text: string): boolean =>
  /[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/.test(text);
