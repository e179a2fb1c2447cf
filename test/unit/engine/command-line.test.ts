import { expect } from 'chai';
import { parseCommandLine } from '../../../examples/engine/cli.ts';
import { createLogger, LogFilterError, parseLevel } from '../../../examples/engine/log.ts';

describe('the command line', () => {
  it('takes several files, and the environment for the rest', () => {
    const env = {
      VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION: 'true',
      VECTOR_GRACEFUL_SHUTDOWN_LIMIT_SECS: '25',
    };
    expect(parseCommandLine(['--config', 'a.yaml', '-c', 'b.yaml', '--config=c.yaml'], env)).to.deep.include({
      kind: 'run',
      configs: [{ path: 'a.yaml' }, { path: 'b.yaml' }, { path: 'c.yaml' }],
      interpolate: true,
      shutdownLimitSecs: 25,
    });
  });

  it('expands nothing unless allowed', () => {
    expect(parseCommandLine(['-c', 'a'], {})).to.deep.include({ interpolate: false, shutdownLimitSecs: 60 });
  });

  it('takes the paths of validate by position', () => {
    expect(parseCommandLine(['validate', '--no-environment', '-d', 'a', 'b'], {})).to.deep.include({
      kind: 'validate',
      configs: [{ path: 'a' }, { path: 'b' }],
      noEnvironment: true,
      skipHealthchecks: false,
      denyWarnings: true,
    });
  });

  it('takes the paths of test by position', () => {
    expect(parseCommandLine(['test', 'a', '--config-yaml', 'b', '--junit-report', 'c'], {})).to.deep.include({
      kind: 'test',
      configs: [{ path: 'a' }, { path: 'b', format: 'yaml' }],
      junitReport: 'c',
    });
  });

  it('takes true and false for switches of the environment, and nothing else', () => {
    for (const name of ['VECTOR_DANGEROUSLY_ALLOW_ENV_VAR_INTERPOLATION', 'VECTOR_WATCH_CONFIG']) {
      expect(parseCommandLine(['-c', 'a'], { [name]: 'false' }).kind).to.equal('run');
      for (const value of ['1', 'TRUE', 'yes', '']) {
        expect(parseCommandLine(['-c', 'a'], { [name]: value }).kind).to.equal('usage-error');
      }
    }
  });

  it('lists components in two formats', () => {
    expect(parseCommandLine(['list'], {})).to.deep.equal({ kind: 'list', format: 'text' });
    expect(parseCommandLine(['list', '--format', 'json'], {})).to.deep.equal({
      kind: 'list',
      format: 'json',
    });
    expect(parseCommandLine(['list', '--format', 'avro'], {}).kind).to.equal('usage-error');
  });

  it('knows generate-schema and where to write to', () => {
    expect(parseCommandLine(['generate-schema'], {})).to.deep.equal({
      kind: 'generate-schema',
      output: undefined,
    });
    for (const argv of [['-o', 'a.json'], ['--output-path', 'a.json'], ['--output-path=a.json']]) {
      const command = parseCommandLine(['generate-schema', ...argv], {});
      expect(command).to.deep.equal({ kind: 'generate-schema', output: 'a.json' });
    }
  });

  for (const argv of [
    ['generate-schema', 'a'],
    ['generate-schema', '-o'],
    ['--nope'],
    ['validate', '--config', 'a'],
    ['test', '--config', 'a'],
    ['test', '--junit-report'],
    ['top'],
    ['--config'],
  ]) {
    it(`refuses ${argv.join(' ')}`, () => {
      expect(parseCommandLine(argv, {}).kind).to.equal('usage-error');
    });
  }
});

describe('the log', () => {
  it('reads levels, and takes a word that is none for the name of a target', () => {
    expect(parseLevel('DEBUG', 'info')).to.equal('debug');
    expect(parseLevel('vector::x=trace,error', 'info')).to.equal('error');
    expect(parseLevel('warning', 'info')).to.equal('off');
    for (const text of ['a=b=c', 'vector=loud'])
      expect(() => parseLevel(text, 'info')).to.throw(LogFilterError);
    expect(parseLevel(undefined, 'warn')).to.equal('warn');
  });

  it("has the shape of Vector's text lines", () => {
    const lines: string[] = [];
    const log = createLogger({
      level: 'info',
      format: 'text',
      now: () => 1.25,
      write: (line) => lines.push(line),
    });
    log.child('a::b').warn('Hm.', { count: 2 });
    log.debug('unseen');
    expect(lines).to.deep.equal(['1970-01-01T00:00:00.001250Z  WARN a::b: Hm. count=2']);
  });

  it('counts equal lines inside 10 s instead of printing them', () => {
    const lines: string[] = [];
    let now = 0;
    const log = createLogger({
      level: 'info',
      format: 'text',
      now: () => now,
      write: (line) => lines.push(line),
    });
    for (let n = 0; n < 5; n += 1) log.limited('error', 'Bad.');
    now = 10_000;
    log.limited('error', 'Bad.');
    expect(lines.map((line) => line.split('engine: ')[1])).to.deep.equal([
      'Bad.',
      'Internal log [Bad.] is being suppressed to avoid flooding.',
      'Internal log [Bad.] has been suppressed 4 times.',
      'Bad.',
    ]);
  });
});
