// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders as they are written in manifests
import { expect } from 'chai';
import { readManifest, readManifests } from '../../support/clients/read-manifests.ts';

const HEAD = 'apiVersion: headgate/v1\nkind: Pipeline\nmetadata: { name: one }\nspec:\n';

function sink(spec: string): Record<string, unknown> {
  const read = readManifest(`${HEAD}${spec}`).spec;
  if (!('sinks' in read)) throw new Error('no pipeline');
  return read.sinks.out ?? {};
}

describe('Values of an environment', () => {
  const values = '  values: { index: logs, port: 9200, tls: true }\n';
  const withSink = (options: string) =>
    `${values}  sinks: { out: { type: http, inputs: [a], ${options} } }\n`;

  it('stand as text inside of a longer text', () => {
    expect(sink(withSink('uri: "http://es:${value.port}/${value.index}"')).uri).to.equal(
      'http://es:9200/logs',
    );
  });

  it('keep their type where they stand alone', () => {
    expect(sink(withSink('port: "${value.port}", tls: { enabled: "${value.tls}" }'))).to.deep.include({
      port: 9200,
      tls: { enabled: true },
    });
  });

  it('leave the escape and the placeholders of the engine alone', () => {
    const read = sink(withSink('a: "$${value.index}", b: "${SVC_SECRET_X}", c: "$$${value.index}"'));
    expect(read).to.deep.include({ a: '$${value.index}', b: '${SVC_SECRET_X}', c: '$$logs' });
  });

  it('are not looked for outside of components and global', () => {
    const { spec } = readManifest(`${HEAD}${values}  description: "\${value.index}"\n`);
    expect(spec).to.have.property('description', '${value.index}');
  });

  it('are reported with what was probably meant', () => {
    const { problems } = readManifests(`${HEAD}${withSink('index: "${value.indx}"')}`);
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include({ stage: 'references', line: 6, hint: 'Did you mean `index`?' });
  });
});

describe('Included files', () => {
  const spec = (reference: string) =>
    `${HEAD}  transforms: { t: { type: remap, inputs: [a], source: ${reference} } }\n`;
  const one = (reference: string, files: Record<string, string> = {}) =>
    readManifests(spec(reference), files).problems[0];

  const refused: [what: string, reference: string, says: string][] = [
    ['an absolute path', '{ $file: /etc/passwd }', 'is not a relative path'],
    ['a URL', '{ $file: "http://example.org/a.vrl" }', 'is not a relative path'],
    ['a drive', '{ $file: "C:/a.vrl" }', 'is not a relative path'],
    ['backslashes', '{ $file: "..\\\\a.vrl" }', 'is not a relative path'],
    ['a way out of the repository', '{ $file: ../../../../etc/passwd }', 'leads out of the repository'],
    ['another environment', '{ $file: ../../staging/a.vrl }', 'outside of the folders'],
    [
      'a folder whose name only begins like a shared one',
      '{ $file: ../../../shared-secrets/a.vrl }',
      'outside of the folders',
    ],
    [
      'a detour through what is allowed',
      '{ $file: ../../../shared/../secrets/a.vrl }',
      'outside of the folders',
    ],
    ['other fields beside it', '{ $file: a.vrl, mode: text }', 'beside other fields'],
    ['a number', '{ $file: 1 }', 'must be a relative path'],
  ];
  for (const [what, reference, says] of refused) {
    it(`are refused for ${what}`, () => {
      expect(one(reference, { 'shared-secrets/a.vrl': 'x', 'secrets/a.vrl': 'x' })).to.include({
        stage: 'references',
        line: 5,
      });
      expect(one(reference)?.message).to.include(says);
    });
  }

  it('are parsed when they are fixtures of a test, and text anywhere else', () => {
    const files = { 'tests/a.json': '{"a": [1]}', 'tests/b.yaml': 'b: { c: 2 }\n' };
    const { spec: read } = readManifest(
      `${HEAD}  transforms: { t: { type: lua, inputs: [a], source: { $file: ../../../tests/a.json } } }
  tests:
    - { name: json, component: t, input: { $file: ../../../tests/a.json }, expect: "true" }
    - { name: yaml, component: t, input: [{ $file: ../../../tests/b.yaml }], expect: { $file: ../../../tests/b.yaml } }
`,
      files,
    );
    expect(read).to.have.nested.property('transforms.t.source', '{"a": [1]}');
    expect(read)
      .to.have.property('tests')
      .that.deep.equals([
        { name: 'json', component: 't', input: { a: [1] }, expect: 'true' },
        { name: 'yaml', component: 't', input: [{ b: { c: 2 } }], expect: 'b: { c: 2 }\n' },
      ]);
  });

  it('tell the place inside a fixture that is wrong', () => {
    const text = `${HEAD}  tests: [{ name: t, component: t, input: { $file: ../../../tests/b.yaml }, expect: "true" }]\n`;
    expect(readManifests(text, { 'tests/b.yaml': 'a: 1\na: 2\n' }).problems[0]).to.include({
      path: 'tests/b.yaml',
      line: 2,
      column: 1,
    });
    const json = text.replace('b.yaml', 'b.json');
    expect(readManifests(json, { 'tests/b.json': '{"__proto__": {}}' }).problems[0]?.message).to.include(
      '__proto__',
    );
    expect(
      readManifests(json, { 'tests/b.json': `${'['.repeat(5000)}${']'.repeat(5000)}` }).problems[0]?.message,
    ).to.include('deep');
  });

  it('are not searched for further references or values', () => {
    const files = { 'shared/a.vrl': '{ $file: other } ${value.x}' };
    const { spec: read } = readManifest(spec('{ $file: ../../../shared/a.vrl }'), files);
    expect(read).to.have.nested.property('transforms.t.source', files['shared/a.vrl']);
  });

  it('have a common limit', () => {
    const files = { 'shared/a.vrl': 'x'.repeat(1024 * 1024) };
    const many = Array.from({ length: 9 }, (_, index) => `f${index}: { $file: ../../../shared/a.vrl }`).join(
      ', ',
    );
    const { problems } = readManifests(
      `${HEAD}  transforms: { t: { type: remap, inputs: [a], ${many} } }\n`,
      files,
    );
    expect(problems[0]?.message).to.include('together');
  });
});

describe('Plain secrets', () => {
  const sinks = (options: string) =>
    `${HEAD}  sinks:\n    out:\n      type: http\n      inputs: [a]\n      ${options}\n`;

  const plain = [
    'auth: { strategy: basic, password: hunter2hunter2 }',
    'token: hunter2hunter2',
    'default_api_key: hunter2hunter2',
    'defaultToken: hunter2hunter2',
    'auth: { access_key_id: hunter2hunter2 }',
    'secret_access_key: hunter2hunter2',
    'tls: { key_pass: hunter2hunter2 }',
    'valid_tokens: ["${SVC_SECRET_A}", hunter2hunter2]',
    'password: "${SVC_SECRET_A:-hunter2hunter2}"',
    'endpoint: "https://user:hunter2hunter2@example.org/x"',
    'request: { headers: { Authorization: Bearer hunter2hunter2 } }',
    'password: 2222222',
  ];
  for (const options of plain) {
    it(`are refused and not quoted: ${options.replaceAll('hunter2hunter2', '…')}`, () => {
      const { problems, manifests } = readManifests(sinks(options));
      expect(manifests).to.deep.equal([]);
      expect(problems).to.have.length(1);
      expect(problems[0]).to.include({ stage: 'secrets', line: 9 });
      expect(JSON.stringify(problems)).to.not.match(/hunter2|2222222/);
      expect(`${problems[0]?.message} ${problems[0]?.hint}`).to.include('${SVC_SECRET_');
    });
  }

  const fine = [
    'auth: { strategy: basic, user: shipper, password: "${SVC_SECRET_P}" }',
    'auth: { strategy: bearer, token: "$TOKEN" }',
    'token: "SECRET[vault.token]"',
    'password: ""',
    'password: "${SVC_SECRET_A:-none}"',
    'password: "${SVC_SECRET_A:-}"',
    'token: "{{ .token }}"',
    'tls: { key_file: /etc/key.pem, ca_file: /etc/ca.pem }',
    'endpoint: "https://${USER}:${SVC_SECRET_P}@example.org/x"',
    'partition_key: host',
    'only_fields: [password, token]',
  ];
  for (const options of fine) {
    it(`are not suspected in ${options}`, () => {
      expect(readManifests(sinks(options)).problems).to.deep.equal([]);
    });
  }

  it('are told apart from defaults of placeholders, and from names that are no variable', () => {
    const told = (options: string) => {
      const [problem] = readManifests(sinks(options)).problems;
      return `${problem?.message}. ${problem?.hint}`;
    };
    expect(told('password: "${SVC_SECRET_A:-hunter2hunter2}"')).to.match(
      /^`password` has a default for \$\{SVC_SECRET_A\} that stands in git as plain text\. Leave the default out/,
    );
    expect(told('password: "${db-pw}"')).to.include('by its variable: db-pw is "${SVC_SECRET_DB_PW}"');
  });

  it('are found behind a value, and not in names that people chose', () => {
    const value = readManifests(
      `${HEAD}  values: { pass: hunter2hunter2 }\n  sinks: { out: { type: http, inputs: [a], password: "\${value.pass}" } }\n`,
    );
    expect(value.problems.map(({ stage }) => stage)).to.deep.equal(['secrets']);
    const names = readManifests(
      `${HEAD}  sources: { token: { type: stdin } }\n  transforms: { password: { type: route, inputs: [token], route: { secret: .a == 1 } } }\n`,
    );
    expect(names.problems).to.deep.equal([]);
  });
});
