/** What the engine of the controller knows, and programs tried on an event, as a person meets them over the API. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type {
  ComponentSchema,
  EngineCatalogue,
  VrlTestResult,
} from '../../../schemas/api/pipelines/engine.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { patient } from '../../support/harness/patience.ts';
import { makeUser, signIn, type TestUser } from '../../support/users/person.ts';

const ENGINE = join(import.meta.dirname, '../../../examples/engine/main.ts');

describe('the components of the engine', () => {
  let folder: string;
  let test: TestController;
  let person: TestUser;

  const engineBin = () => join(folder, 'engine');
  const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n');
  /** An executable that writes down what it is asked, and then does as the lines say. */
  function install(...lines: string[]): void {
    writeFileSync(join(folder, 'runs'), '');
    writeFileSync(engineBin(), ['#!/bin/sh', `echo "$@" >> ${folder}/runs`, ...lines, ''].join('\n'));
    chmodSync(engineBin(), 0o755);
  }
  const catalogue = () => person.query<EngineCatalogue>('engine.catalogue');
  const schemaOf = (kind: string, type: string) =>
    person.call<ComponentSchema>('query', 'engine.componentSchema', { kind, type });

  before(async function () {
    this.timeout(30_000);
    folder = mkdtempSync(join(tmpdir(), 'engine-catalogue-'));
    install(`exec ${process.execPath} ${ENGINE} "$@"`);
    test = await startTestController({ engineBin: engineBin() });
    await makeUser(test.db, { email: 'nobody@example.org' });
    person = await signIn(test.url, 'nobody@example.org');
  });
  after(async () => {
    await test?.stop();
    rmSync(folder, { recursive: true });
  });

  it('are asked of it once, however many want to know', async function () {
    this.timeout(20_000);
    const all = await Promise.all(Array.from({ length: 10 }, catalogue));
    const [first] = all;
    for (const one of all) expect(one).to.deep.equal(first);
    expect(first?.engine).to.equal('headgate-engine 0.1.0');
    expect(first?.detail).to.equal(null);
    expect(first?.components).to.have.length(16);
    expect(first?.components.find(({ type }) => type === 'remap')).to.deep.equal({
      kind: 'TRANSFORM',
      type: 'remap',
      title: 'Remap with VRL',
      description: 'Changes events as they pass, by a program in the Vector Remap Language (VRL).',
    });
    expect(runs()).to.deep.equal(['--version', 'generate-schema']);
  });

  it('have a schema that a form can be made of', async () => {
    const { output } = await schemaOf('SINK', 'http');
    expect(output?.engine).to.equal('headgate-engine 0.1.0');
    const schema = output?.schema as { required: string[]; properties: Record<string, object> };
    expect(schema.required).to.deep.equal(['uri', 'encoding']);
    expect(schema.properties.method).to.deep.equal({
      type: 'string',
      enum: ['delete', 'options', 'patch', 'post', 'put'],
      default: 'post',
      description: 'The method of the requests.',
    });
    expect(JSON.stringify(schema)).not.to.include('$ref');
  });

  it('are not found by the wrong name', async () => {
    for (const [kind, type] of [
      ...[
        ['SINK', 'remap'],
        ['TRANSFORM', 'kafka'],
        ['SOURCE', 'constructor'],
        ['SOURCE', '../../etc/passwd'],
      ],
    ]) {
      const { status, fault } = await schemaOf(kind!, type!);
      expect(status, type).to.equal(404);
      expect(fault?.message).to.include('headgate-engine 0.1.0');
    }
  });

  it('are those of the new engine once it is another executable', async function () {
    this.timeout(20_000);
    install(
      'if [ "$1" = --version ]; then echo "vector 0.99.0 (somewhere)"; exit; fi',
      `exec ${process.execPath} ${ENGINE} "$@"`,
    );
    expect((await catalogue()).engine).to.equal('vector 0.99.0');
    expect((await schemaOf('SINK', 'console')).output?.engine).to.equal('vector 0.99.0');
  });

  it('are names alone where the engine fails, prints no JSON or another one, and it says so', async () => {
    for (const lines of [['echo "no such command" >&2', 'exit 2'], ['echo hello'], ['echo "{}"']]) {
      install(...lines);
      const { detail, components } = await catalogue();
      expect(detail, lines[0]).to.match(
        /^The engine could not be asked for its components: .*their options are not known/,
      );
      expect(components.map(({ type }) => type)).to.include.members(['file', 'remap', 'elasticsearch']);
      const { output } = await schemaOf('SINK', 'elasticsearch');
      expect(output?.schema).to.deep.include({ type: 'object', additionalProperties: true, 'x-cut': true });
      expect((await schemaOf('SINK', 'nonsense')).status).to.equal(404);
    }
  });

  it('are names alone where the engine is gone', async () => {
    rmSync(engineBin());
    expect((await catalogue()).detail).to.include('could not be asked');
  });
});

describe('a program that is tried over the API', () => {
  let test: TestController;
  let person: TestUser;
  let other: TestUser;

  const ask = (who: TestUser, source: string, input = '{"message": "hello"}', more: object = {}) =>
    who.call<VrlTestResult>('mutation', 'vrl.test', { source, input, ...more });

  before(async function () {
    this.timeout(30_000);
    test = await startTestController();
    for (const name of ['one', 'other']) await makeUser(test.db, { email: `${name}@example.org` });
    person = await signIn(test.url, 'one@example.org');
    other = await signIn(test.url, 'other@example.org');
  });
  after(async () => {
    await test?.stop();
  });

  it('gives the event that leaves, and leaves no trace', async function () {
    this.timeout(20_000);
    const { output, status } = await ask(person, '.length = length!(.message)');
    expect(status).to.equal(200);
    expect(JSON.parse(output?.output ?? 'null')).to.deep.equal({ message: 'hello', length: 5 });
    expect(output).to.deep.include({
      success: true,
      result: '5',
      dropped: false,
      error: null,
      diagnostics: [],
    });
    expect(await test.db('audit_log').where('action', 'like', 'vrl%')).to.deep.equal([]);
  });

  it('is told what is wrong with it, with line and column', async () => {
    const { output } = await ask(person, '.a = 1\n.b = parse_json(.message)');
    expect(output).to.deep.include({ success: false, output: null });
    expect(output?.diagnostics[0]).to.deep.include({ severity: 'error', code: 103, line: 2, column: 6 });
  });

  it('passes or drops the event as a condition', async () => {
    const { output } = await ask(person, '.message == "x"', undefined, { purpose: 'condition' });
    expect(output).to.deep.include({ success: true, dropped: true, dropReason: 'the condition is false' });
  });

  it('wants one JSON object, and says where the text is none', async () => {
    const { status, fault } = await ask(person, '.', '{"a": 1,\n b: 2}');
    expect(status).to.equal(400);
    expect(fault?.message).to.include('line 2, column 2').and.to.include('{"message": "hello"');
    expect(fault?.data).to.include({ line: 2, column: 2 });
  });

  it('may be long, and no longer', async () => {
    const source = `.a = 1 ${'#'.repeat(65_536 - 7)}`;
    expect((await ask(person, source)).output?.success).to.equal(true);
    expect((await ask(person, `${source}#`)).status).to.equal(400);
    const input = JSON.stringify({ message: 'x'.repeat(65_536 - 14) });
    expect((await ask(person, '.a = 1', input)).output?.success).to.equal(true);
    expect((await ask(person, '.a = 1', `${input} `)).status).to.equal(400);
  });

  it('sees nothing of the controller', async () => {
    const { output } = await ask(person, '.path, err = get_env_var("PATH")\n.err = err');
    expect(JSON.stringify(output)).not.to.include('/bin');
  });

  const numbers = JSON.stringify({ list: Array.from({ length: 20_000 }, () => 1) });
  const endless =
    'n = 0\nfor_each(array!(.list)) -> |_i, _v| { for_each(array!(.list)) -> |_j, _w| { n = n + 1 } }';

  it('is ended where it does not end, and harms nobody meanwhile', async function () {
    this.timeout(30_000);
    const started = performance.now();
    const slow = ask(person, endless, numbers);
    const { output: quick } = await ask(other, '.a = 1');
    expect(quick?.success).to.equal(true);
    expect(performance.now() - started, 'the other one has not waited').to.be.below(patient(4_500));
    const { output, status } = await slow;
    expect(status).to.equal(200);
    expect(output).to.deep.include({ success: false, output: null, dropped: false });
    expect(output?.error).to.equal(
      'The program ran longer than 5 s and was ended; try it on a smaller event',
    );
    expect((await ask(person, '.a = 1')).output?.success).to.equal(true);
  });

  it('is ended where it wants all memory', async function () {
    this.timeout(30_000);
    const { output } = await ask(
      person,
      's = "x"\nfor_each(array!(.list)) -> |_i, _v| { s = s + s }',
      numbers,
    );
    expect(output?.success).to.equal(false);
    expect(output?.error).to.include('memory');
    expect((await ask(person, '.a = 1')).output?.success).to.equal(true);
  });

  it('waits its turn with three others of one person, and no more', async function () {
    this.timeout(40_000);
    // Long enough to compile that the others have come before the first is done.
    const program = '.a = 1\n'.repeat(2_000);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(person, program)));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200).length).to.be.at.least(4);
    expect((await ask(person, '.a = 1')).output?.success).to.equal(true);
  });
});
