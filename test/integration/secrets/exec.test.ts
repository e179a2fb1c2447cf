/** Secrets from a program, with real programs. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startOf } from '../../../controller/platform/runtime/process-record.ts';
import { createExecBackend } from '../../../controller/secrets/backends/exec.ts';
import { refTo } from '../../../controller/secrets/backends/secret-ref.ts';
import { faultOf, refs, still } from '../../support/fixtures/secret-refs.ts';
import { patient } from '../../support/harness/patience.ts';
import { until } from '../../support/harness/until.ts';

describe('secrets from a program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-exec-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;

  function program(script: string, mode = 0o755): string {
    const path = join(folder, `program-${++count}`);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, mode);
    return path;
  }
  const backend = (script: string, args: string[] = []) =>
    createExecBackend({ command: program(script), args });
  const one = async (script: string, name = 'db') =>
    (await backend(script).read(refs([name]), still)).get(name);

  it('are asked for by version and names, on its input', async () => {
    const asked = join(folder, 'asked');
    const made = backend(`cat > ${asked}\necho '{"db":{"value":"first","error":null},"x":{"value":"y"}}'`);
    const readings = await made.read(refs(['db', 'other']), still);
    expect(readFileSync(asked, 'utf8')).to.equal('{"version":"1.0","secrets":["db","other"]}');
    expect([...readings]).to.deep.equal([
      ['db', { value: 'first' }],
      ['other', { error: 'the program does not answer for other' }],
    ]);
  });

  it('are asked for by version 1.1 where the operator says which backend the program is to ask', async () => {
    const asked = join(folder, 'asked-1.1');
    const command = program(`cat > ${asked}\necho '{"db":{"value":"first"}}'`);
    const told = { type: 'file.json', config: { file_path: '/etc/secrets.json' } };
    const readings = await createExecBackend({ command }, told).read(refs(['db']), still);
    expect(JSON.parse(readFileSync(asked, 'utf8'))).to.deep.equal({
      version: '1.1',
      secrets: ['db'],
      ...told,
    });
    expect([...readings]).to.deep.equal([['db', { value: 'first' }]]);
  });

  it('are asked for by their paths, once each, and may be properties of what is given', async () => {
    const asked = join(folder, 'asked-paths');
    const made = backend(
      `cat > ${asked}\necho '{"team/db":{"value":"{\\"user\\":\\"me\\",\\"pass\\":\\"x\\"}"}}'`,
    );
    const at = (name: string, more: object) => ({ ...refTo(name), path: 'team/db', ...more });
    const readings = await made.read(
      [
        at('user', { property: 'user' }),
        at('pass', { property: 'pass' }),
        at('none', { property: 'token' }),
        at('old', { version: '1' }),
        at('root', { path: '/etc/passwd' }),
      ],
      still,
    );
    expect(readFileSync(asked, 'utf8')).to.equal('{"version":"1.0","secrets":["team/db"]}');
    expect(Object.fromEntries(readings)).to.deep.equal({
      user: { value: 'me' },
      pass: { value: 'x' },
      none: { error: 'team/db has no text in the property "token"; its properties are: user, pass' },
      old: { error: 'a program has no versions; leave the version out' },
      root: { error: 'a path for a program must not begin with /' },
    });
  });

  it('are asked for in runs of 50 names', async () => {
    const runs = join(folder, 'runs');
    const script = `echo run >> ${runs}\nsed -e 's/.*"secrets":\\[\\(.*\\)\\].*/{\\1}/' -e 's/"\\([^"]*\\)"/"\\1":{"value":"of \\1"}/g'`;
    const names = Array.from({ length: 120 }, (_, n) => `name_${n}`);
    const readings = await backend(script).read(refs(names), still);
    expect(readFileSync(runs, 'utf8').trim().split('\n')).to.have.length(3);
    expect(readings.get('name_119')).to.deep.equal({ value: 'of name_119' });
  });

  it('come from a program that gets its arguments as they are, and no shell reads them', async () => {
    const seen = join(folder, 'args');
    const made = backend(`printf '%s\\n' "$@" > ${seen}\necho '{}'`, ['a b', '$(touch /tmp/no)', '; rm']);
    await made.read(refs(['db']), still);
    expect(readFileSync(seen, 'utf8')).to.equal('a b\n$(touch /tmp/no)\n; rm\n');
  });

  it('come from a program that sees nothing of the controller’s environment', async () => {
    const seen = join(folder, 'env');
    process.env.HEADGATE_CANARY = 'canary';
    try {
      await backend(`env > ${seen}; pwd >> ${seen}; echo '{}'`).read(refs(['db']), still);
    } finally {
      delete process.env.HEADGATE_CANARY;
    }
    const names = readFileSync(seen, 'utf8')
      .split('\n')
      .flatMap((line) => (line.includes('=') ? [line.split('=')[0]] : []));
    expect(names.filter((name) => !['_', 'SHLVL', 'OLDPWD'].includes(name ?? '')).sort()).to.deep.equal([
      'HOME',
      'LANG',
      'PATH',
      'PWD',
    ]);
    expect(readFileSync(seen, 'utf8').trim().endsWith('\n/')).to.equal(true);
  });

  it('that it refuses, or gives in another form, are told by name', async () => {
    const error = (answer: string) => one(`echo '${answer}'`);
    expect(await error('{"db":{"value":null,"error":"no such key"}}')).to.deep.equal({
      error: 'the program reports: no such key',
    });
    expect(await error('{"db":"first"}')).to.deep.equal({ error: 'the program does not answer for db' });
    expect(await error('{"db":{"value":7}}')).to.deep.equal({ error: 'the program gives no text for db' });
    expect(await error('{"db":{"value":""}}')).to.deep.equal({ error: 'the value is empty' });
    expect(await error('{"db":{"value":"a\\\\nb"}}')).to.deep.equal({ value: 'a\nb' });
    expect(await error('{"db":{"value":"a\\\\u0000b"}}'))
      .to.have.property('error')
      .that.includes('NUL');
    const leaky = backend(`echo '{"db":{"value":"canary-1"},"other":{"error":"cannot give canary-1 here"}}'`);
    expect((await leaky.read(refs(['db', 'other']), still)).get('other')).to.deep.equal({
      error: 'the program reports: cannot give [redacted] here',
    });
  });

  const FAULTS: [of: string, script: string, says: RegExp][] = [
    ['ends with a fault', 'echo canary-2 >&2; echo canary-2; exit 3', /ended with code 3; run it by hand/],
    ['is killed', 'kill -9 $$', /ended with SIGKILL/],
    ['prints no JSON', 'echo canary-2', /printed no JSON object/],
    ['prints a list', "echo '[]'", /printed no JSON object/],
    ['prints nothing', 'true', /printed no JSON object/],
    ['prints for ever', 'yes canary-2', /printed more than 1 MiB and was killed/],
  ];
  for (const [of, script, says] of FAULTS) {
    it(`fail as a whole where it ${of}, and what it printed is not told`, async () => {
      const fault = await faultOf(backend(script).read(refs(['db']), still));
      expect(fault.fault).to.equal('refused');
      expect(fault.message).to.match(says).and.not.include('canary');
    });
  }

  it('are not waited for for longer than the setting says', async () => {
    const made = createExecBackend({ command: program('exec sleep 300'), timeoutSeconds: 1 });
    const fault = await faultOf(made.read(refs(['db']), still));
    expect(fault.message).to.include('took longer than 1 s and was killed');
  });

  it('leave nothing running that keeps its output open', async () => {
    const pid = join(folder, 'left');
    const began = performance.now();
    expect(await one(`sleep 300 & echo $! > ${pid}\necho '{"db":{"value":"first"}}'`)).to.deep.equal({
      value: 'first',
    });
    expect(performance.now() - began).to.be.below(patient(5_000));
    await until(() => startOf(Number(readFileSync(pid, 'utf8'))) === null, { what: 'its child to end' });
  });

  it('are given up at once when nobody wants them any longer', async () => {
    const started = join(folder, 'started');
    const stopping = new AbortController();
    const work = backend(`echo $$ > ${started}; exec sleep 300`).read(refs(['db']), stopping.signal);
    await until(() => existsSync(started) && readFileSync(started, 'utf8') !== '', { what: 'it to start' });
    stopping.abort(new Error('stopping'));
    expect(await work.catch((error: Error) => error.message)).to.equal('stopping');
    expect(startOf(Number(readFileSync(started, 'utf8')))).to.equal(null);
  });

  it('need a program that is there and may be run', async () => {
    const check = (command: string) => faultOf(createExecBackend({ command }).check(still));
    expect((await check(join(folder, 'none'))).message).to.include('does not exist on the controller');
    expect((await check(folder)).message).to.include('is not a file');
    const broken = program('', 0o755);
    writeFileSync(broken, 'no program at all');
    expect((await check(broken)).message).to.match(/cannot be started|ended with|printed no JSON/);
    if (process.getuid?.() !== 0)
      expect((await check(program('true', 0o644))).message).to.include('may not be run');
  });

  it('are not written', async () => {
    const fault = await faultOf(backend('true').write(refTo('db'), 'canary-3', 'create', still));
    expect(fault.message).to.include('secret.register').and.not.include('canary-3');
  });
});
