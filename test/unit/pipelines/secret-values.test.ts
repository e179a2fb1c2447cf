// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import verel from '@bpinternal/verel/dist/node/index.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { engineEnvironment } from '../../../agent/supervise/engine/engine-environment.ts';
import { quoteSecrets } from '../../../agent/supervise/engine/quoted-secrets.ts';
import { compile } from '../../../controller/pipelines/definition/compile.ts';
import type { Definition } from '../../../controller/pipelines/definition/definition.ts';
import { readEngineConfig } from '../../../controller/pipelines/graph/engine-yaml.ts';
import { servedYaml } from '../../../controller/pipelines/versions/served-yaml.ts';
import {
  escapeForVrl,
  secretReferences,
  vrlReferences,
  vrlVariable,
} from '../../../controller/secrets/index.ts';
import { interpolate } from '../../../examples/engine/config/interpolate.ts';
import { parseConfig } from '../../../examples/engine/config/load.ts';
import { definition } from '../../support/fixtures/definition.ts';
import { HARD_VALUES, hardValue, needsUnicodeEscape } from '../../support/fixtures/hard-values.ts';

const VARIABLE = 'SVC_SECRET_X';

/** The config as an engine reads it that the agent starts with what the controller serves. */
function readByEngine(configYaml: string, value: string, agentQuotes = true): unknown {
  const secrets = Object.fromEntries(
    [...secretReferences(configYaml)].map(({ variable }) => [variable, value]),
  );
  for (const variable of vrlReferences(configYaml)) secrets[vrlVariable(variable)] = escapeForVrl(value);
  const entry = { configYaml, secrets, logLevel: 'info' };
  const { env } = engineEnvironment(entry, {}, '/certs');
  expect(env[VARIABLE], 'programs that read their environment').to.equal(value);
  const text = agentQuotes ? quoteSecrets(entry).configYaml : configYaml;
  expect(text.split('\n'), 'the lines of the file').to.have.length(configYaml.split('\n').length);
  return parseConfig(interpolate(text, env), 'yaml');
}

const with_ = (transforms: Definition['transforms'], sink: Record<string, unknown> = {}): Definition =>
  definition({
    sources: { in: { type: 'demo_logs', format: 'json' } },
    transforms,
    sinks: { out: { type: 'http', inputs: ['in'], uri: 'http://127.0.0.1:1', ...sink } },
  });

const texts = (value: string) => ({
  auth: { strategy: 'basic', user: `user ${value}`, password: value },
  list: [value, { nested: `${value}${value}` }, `first\nsecond ${value}\n `, 'no secret: "here"'],
  'a key: with a colon': value,
});

const optionsOf = (config: unknown): Record<string, unknown> => {
  const { type, inputs, uri, ...options } = (config as { sinks: { out: Record<string, unknown> } }).sinks.out;
  return options;
};

/** What a program makes of an event. */
function run(source: string): Record<string, unknown> {
  const { errors } = verel.check(source);
  expect(errors, source).to.deep.equal([]);
  return verel.execute(source, {}).event as Record<string, unknown>;
}

const programOf = (config: unknown): string =>
  (config as { transforms: { set: { source: string } } }).transforms.set.source;

const setter = (source: string) =>
  compile(with_({ set: { type: 'remap', inputs: ['in'], source } })).configYaml;

describe('the value of a secret', () => {
  const rendered = compile(with_({}, texts(`\${${VARIABLE}}`))).configYaml;

  for (const value of HARD_VALUES) {
    it(`reaches the options of the engine as it is: ${JSON.stringify(value).slice(0, 60)}`, () => {
      expect(optionsOf(readByEngine(rendered, value))).to.deep.equal(texts(value));
    });

    it(`reaches a VRL string as it is: ${JSON.stringify(value).slice(0, 60)}`, () => {
      const program = setter(
        `# \${${VARIABLE}}\n.v = "\${${VARIABLE}}"\n.w = {"k": "a \${${VARIABLE}} b"}\n`,
      );
      for (const agentQuotes of [true, false]) {
        expect(run(programOf(readByEngine(program, value, agentQuotes)))).to.deep.equal({
          v: value,
          w: { k: `a ${value} b` },
        });
      }
    });
  }

  it('reaches the options of the engine as it is, whatever it is', () => {
    fc.assert(
      fc.property(hardValue, (value) => {
        expect(optionsOf(readByEngine(rendered, value))).to.deep.equal(texts(value));
      }),
      { numRuns: 500 },
    );
  });

  it('reaches a VRL string as it is, whatever it is', () => {
    const program = setter(`.v = "\${${VARIABLE}}"`);
    fc.assert(
      fc.property(
        hardValue.filter((text) => !needsUnicodeEscape(text)),
        (value) => {
          expect(run(programOf(readByEngine(program, value)))).to.deep.equal({ v: value });
        },
      ),
      { numRuns: 500 },
    );
  });

  it('stands in a VRL program in characters of one line that YAML leaves alone', () => {
    fc.assert(
      fc.property(hardValue, (value) => {
        expect(needsUnicodeEscape(escapeForVrl(value)) || /[\n\r\t]/.test(escapeForVrl(value))).to.equal(
          false,
        );
      }),
    );
    expect(escapeForVrl('\u001b\u0085')).to.equal('\\u{1b}\\u{85}');
  });

  it('reaches an engine of an agent that escapes nothing, unless it holds quotes, backslashes or line breaks', () => {
    for (const value of HARD_VALUES.filter((one) => !/["\\\n\r]/.test(one)))
      expect(optionsOf(readByEngine(rendered, value, false))).to.deep.equal(texts(value));
  });

  it('may be left out for a default, which may hold what YAML would read', () => {
    const text = '${SVC_SECRET_Y:-a: "b" \\ #c}';
    const { configYaml } = compile(with_({}, { note: text }));
    const expanded = interpolate(quoteSecrets({ configYaml, secrets: {} }).configYaml, {});
    expect(optionsOf(parseConfig(expanded, 'yaml'))).to.deep.equal({ note: 'a: "b" \\ #c' });
    const secrets = { SVC_SECRET_Y: 'x"y' };
    const entry = { configYaml, secrets, logLevel: 'info' };
    const { env } = engineEnvironment(entry, {}, '/certs');
    expect(optionsOf(parseConfig(interpolate(quoteSecrets(entry).configYaml, env), 'yaml'))).to.deep.equal({
      note: 'x"y',
    });
  });
});

describe('a rendered config with secrets', () => {
  it('is what it was without: strings without a secret are written as before', () => {
    const { configYaml } = compile(with_({}, { note: 'a\nb', path: '${SVC_CERT_DIR}/ca.pem', n: '$$5' }));
    expect(configYaml)
      .to.include('path: ${SVC_CERT_DIR}/ca.pem')
      .and.include('note: |-')
      .and.include('n: $$5');
  });

  it('has them in double quotes on one line, and in VRL in the form for it', () => {
    const { configYaml } = compile(
      with_(
        { f: { type: 'filter', inputs: ['in'], condition: '.t == "$SVC_SECRET_X"' } },
        { token: '${SVC_SECRET_X}' },
      ),
    );
    expect(configYaml).to.include('token: "${SVC_SECRET_X}"');
    expect(configYaml).to.match(/condition: \|-\n +\.t == "\$\{SVC_SECRET_X__VRL\}"/);
  });

  it('gives the same definition when it is read as a text of a person', () => {
    const transforms = {
      set: { type: 'remap', inputs: ['in'], source: '.a = "${SVC_SECRET_X}"\n.b = "${SVC_SECRET_Y:-none}"' },
    };
    const { configYaml } = compile(with_(transforms));
    expect(configYaml).to.include('${SVC_SECRET_X__VRL}').and.include('${SVC_SECRET_Y__VRL:-none}');
    expect(readEngineConfig(configYaml).definition?.transforms).to.deep.equal(transforms);
  });

  it('needs the secrets that it names, whatever the form', () => {
    const text = setter('.a = "${SVC_SECRET_X}"\n.b = "${SVC_SECRET_Y:-none}"');
    expect(secretReferences(text)).to.deep.equal([
      { variable: 'SVC_SECRET_X', optional: false },
      { variable: 'SVC_SECRET_Y', optional: true },
    ]);
    expect(vrlReferences(text)).to.deep.equal(['SVC_SECRET_X', 'SVC_SECRET_Y']);
  });
});

describe('a version from before secrets were quoted', () => {
  const stored = `sources:
  in:
    type: demo_logs
sinks:
  out:
    type: http
    inputs: [ in ]
    token: \${SVC_SECRET_X}
`;
  const program = `transforms:
  set:
    type: remap
    source: .a = "\${SVC_SECRET_X}"
`;
  const served = (text: string, value: string) => servedYaml(text, new Map([[VARIABLE, value]]));

  for (const value of ['plain', 'a#b', 'pa$$word', 'x/y+z==', "it's", 'back\\slash', 'say "hi"'])
    it(`is served as it was stored with ${JSON.stringify(value)}, which arrives`, () =>
      expect(served(stored, value)).to.equal(stored));

  for (const value of [
    'true',
    '1e5',
    '@x',
    'a: b',
    '123456',
    'abc #def',
    ' x',
    'x ',
    '0123',
    '~',
    'a\nb',
    "'a'",
  ])
    it(`is served in quotes with ${JSON.stringify(value)}, which would not arrive`, () => {
      const text = served(stored, value);
      expect(text).to.include('token: "${SVC_SECRET_X}"');
      expect(optionsOf(readByEngine(text, value))).to.deep.equal({ token: value });
    });

  it('has the form for VRL only where a value would be run', () => {
    expect(served(program, 'plain#')).to.equal(program);
    expect(served(program, 'x"; .admin = true; .y = "')).to.include('${SVC_SECRET_X__VRL}');
  });

  it('is not touched any more once it is rendered anew', () => {
    const { configYaml } = compile(with_({}, texts('${SVC_SECRET_X}')));
    const vrl = setter('.a = "${SVC_SECRET_X}"');
    for (const value of HARD_VALUES) {
      expect(served(configYaml, value)).to.equal(configYaml);
      expect(served(vrl, value)).to.equal(vrl);
    }
  });
});

describe('the file that the agent writes', () => {
  const quote = (configYaml: string, value = 'a"b') =>
    quoteSecrets({ configYaml, secrets: { [VARIABLE]: value } }).configYaml;

  it('is as it was served where no value has to be escaped', () => {
    expect(quote('a: "${SVC_SECRET_X}"', 'plain: #')).to.equal('a: "${SVC_SECRET_X}"');
  });

  for (const [what, yaml] of [
    ['in a block', 'a: |\n  b: "${SVC_SECRET_X}"\n  - "${SVC_SECRET_X}"\n\n  "${SVC_SECRET_X}"'],
    ['in a block of a list', 'a:\n  - |-\n    k: "${SVC_SECRET_X}"\n  - c: >2\n        "${SVC_SECRET_X}"'],
    ['without quotes', 'a: ${SVC_SECRET_X}'],
    ['in single quotes', 'a: \'"${SVC_SECRET_X}"\''],
    ['behind a dollar', 'a: "$${SVC_SECRET_X}"'],
    ['of another secret', 'a: "${SVC_SECRET_X2} $SVC_SECRET_X.y"'],
  ] as const)
    it(`leaves a placeholder ${what} alone`, () => expect(quote(yaml)).to.equal(yaml));

  it('names the escaped value in every string in double quotes, behind blocks as well', () => {
    expect(
      quote(
        'a: |\n  x\nb:\n  - "${SVC_SECRET_X}"\n  - "k: \\" y": "1 $SVC_SECRET_X ${SVC_SECRET_X:-d}"\n    \'q\': "${SVC_SECRET_X}"',
      ),
    ).to.equal(
      'a: |\n  x\nb:\n  - "${SVC_SECRET_X__QUOTED}"\n  - "k: \\" y": "1 ${SVC_SECRET_X__QUOTED} ${SVC_SECRET_X__QUOTED:-d}"\n    \'q\': "${SVC_SECRET_X__QUOTED}"',
    );
  });
});
