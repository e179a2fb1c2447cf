/** `headgate validate` and `headgate test`: what they find, in every form, and by which exit code. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ENGINE } from '../../support/agents/node-agent.ts';
import { EXAMPLE, Files, headgate, headgateInProcess } from '../../support/clients/command.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';

const BROKEN = idleManifest('broken').replace('[ticks]', '[tikcs]');
const withTest = (name: string, expect: string) => `${idleManifest(name)}  transforms:
    parse: { type: remap, inputs: [ticks], source: '.level = "info"' }
  tests:
    - { name: a level is set, component: parse, input: { message: x }, expect: '${expect}' }
`;

describe('checks without a server', function () {
  this.timeout(120_000);
  let files: Files;
  /** Where the commands put what is only for a while. */
  let temporary: Files;
  const optionsOf = (env: Record<string, string>) => ({
    cwd: files.folder,
    env: { TMPDIR: temporary.folder, ...env },
  });
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    headgateInProcess(args, optionsOf(env));
  /** For what the launcher, the streams and the exit of a process add. */
  const runProcess = (args: readonly string[], env: Record<string, string> = {}) =>
    headgate(args, optionsOf(env));

  beforeEach(() => {
    files = new Files();
    temporary = new Files();
  });
  afterEach(() => {
    expect(temporary.list(), 'left behind').to.deep.equal([]);
    files.remove();
    temporary.remove();
  });

  it('find nothing wrong in the example, and name what they could not look at', async () => {
    const { code, stdout, stderr } = await runProcess(['validate', EXAMPLE]);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^environments\/production: \d+ manifests fine$/m);
    expect(stdout).to.match(/^environments\/staging: \d+ manifests fine$/m);
    for (const stage of ['engine', 'secrets exist', 'fleet', 'guards'])
      expect(stdout).to.include(`skipped: ${stage}: `);
  });

  it('name file, line and column, what is wrong and what to do', async () => {
    files.write({
      'environments/staging/pipelines/broken.yaml': BROKEN,
      'environments/staging/pipelines/sound.yaml': idleManifest('sound'),
      'environments/production/one.yaml': idleManifest('one'),
    });
    const { code, stdout } = await run(['validate']);
    expect(code).to.equal(1);
    expect(stdout).to.include(
      'environments/production: 1 manifest fine\nenvironments/staging: 1 manifest fine, 1 problem\n',
    );
    expect(stdout).to.match(
      /^ {2}environments\/staging\/pipelines\/broken\.yaml:9:\d+\n {6}input "tikcs" of "discard" matches no component\n {6}did you mean "ticks"\?$/m,
    );
    expect((await run(['validate', '--path', 'environments/production'])).code).to.equal(0);
    files.write({
      'environments/production/one.yaml': `${idleManifest('one')}  dependsOn: [two]\n`,
      'environments/production/two.yaml': `${idleManifest('two')}  dependsOn: [one]\n`,
    });
    const circle = await run(['validate', '--path', 'environments/production', '--allow-outside']);
    expect(circle.code).to.equal(1);
    expect(circle.stdout).to.match(
      /production\/two\.yaml:10:\d+\n.* two \(.*two\.yaml:10:\d+\) → one \(.*one\.yaml:10:\d+\) → two\n/,
    );
    files.write({ 'environments/production/one.yaml': idleManifest('one') });
    expect((await run(['validate', join(files.folder, 'environments/production')])).code).to.equal(0);
  });

  it('write JSON, JUnit and annotations', async () => {
    files.write({
      'environments/staging/broken.yaml': BROKEN,
      'environments/staging/sound.yaml': idleManifest('sound'),
    });
    const json = await run(['validate', '--format', 'json']);
    expect(json.code).to.equal(1);
    const { environments, stages } = JSON.parse(json.stdout);
    expect(
      environments[0].manifests.map(({ name, problems }: { name: string; problems: object[] }) => [
        name,
        problems.length,
      ]),
    ).to.deep.equal([
      ['broken', 1],
      ['sound', 0],
    ]);
    expect(stages.find(({ stage }: { stage: string }) => stage === 'fleet').status).to.equal('skipped');
    const junit = await run(['validate', '--format=junit']);
    expect(junit.code).to.equal(1);
    expect(junit.stdout).to.include(
      '<testsuites name="headgate validate" tests="2" failures="1" skipped="0">',
    );
    expect(junit.stdout).to.include(
      '<testcase classname="environments/staging" name="Pipeline sound" file="environments/staging/sound.yaml" line="1"/>',
    );
    const github = await run(['validate', '--format', 'github']);
    expect(github.code).to.equal(1);
    expect(github.stdout).to.match(
      /^::error file=environments\/staging\/broken\.yaml,line=9,col=\d+::input "tikcs"/m,
    );
    const nested = await headgateInProcess(['validate', files.folder, '--format', 'github'], {
      env: { TMPDIR: temporary.folder, GITHUB_WORKSPACE: join(files.folder, '..') },
    });
    expect(nested.stdout).to.match(/^::error file=headgate-files-\w+\/environments\/staging\/broken\.yaml,/m);
  });

  it('read what a push would bring, and nothing else', async () => {
    files
      .write({
        'environments/staging/one.yaml': idleManifest('one').replace(
          '    discard:',
          '    file: { type: file, inputs: [ticks], path: { $file: ../../shared/path.txt } }\n    discard:',
        ),
        'environments/staging/ignored.yaml': 'a: [',
        'environments/staging/.git/config.yaml': 'a: [',
        'node_modules/x/broken.yaml': 'a: [',
        'shared/path.txt': '/tmp/out',
        '.headgateignore': 'ignored.yaml\n',
        '.git/HEAD': 'not a repository',
      })
      .link('environments/staging/link.yaml', '/etc/passwd');
    execFileSync('mkfifo', [join(files.folder, 'environments/staging/pipe.yaml')]);
    const { code, stdout } = await run(['validate']);
    expect(code).to.equal(1);
    expect(stdout).to.include('environments/staging/link.yaml').and.to.include('symbolic link');
    expect(stdout).to.include('environments/staging: 1 manifest fine, 1 problem').and.not.to.include('root:');
  });

  it('hold a name that is not in the tree for a mistake, unless told otherwise', async () => {
    files.write({
      'rule.yaml':
        'apiVersion: headgate/v1\nkind: AlertRule\nmetadata: { name: r }\nspec: { pipelineRef: elsewhere, metric: pipeline_crashed, condition: eq, threshold: 1 }\n',
    });
    const strict = await run(['validate', '.']);
    expect(strict.code).to.equal(1);
    expect(strict.stdout).to.include('pipelineRef names "elsewhere"');
    const lenient = await run(['validate', '.', '--allow-outside']);
    expect(lenient.code).to.equal(0);
    expect(lenient.stdout).to.include('note: AlertRule r: pipelineRef names "elsewhere"');
  });

  it('take placeholders of secrets that are well-formed, and no others', async () => {
    const using = (text: string) =>
      idleManifest('one').replace('format: json', `format: shuffle, lines: ["${text}"]`);
    files.write({ 'a.yaml': using('$' + '{SVC_SECRET_ANY}') });
    expect((await run(['validate', '.'])).code).to.equal(0);
    files.write({ 'a.yaml': using('$' + '{OTHER}') });
    expect((await run(['validate', '.'])).stdout).to.include('would be read as an environment variable');
  });

  it('ask an engine where there is one', async () => {
    files.write({ 'a.yaml': idleManifest('one').replace('format: json', 'format: no-such-format') });
    expect((await run(['validate', '.'])).code).to.equal(0);
    const env = { HEADGATE_ENGINE_BIN: ENGINE };
    const asked = await run(['validate', '.'], env);
    expect(asked.code, asked.stdout).to.equal(1);
    expect(asked.stdout).to.match(/a\.yaml:7:\d+\s+`sources\.ticks\.format` must be one of /);
    expect(asked.stdout).to.include('options (by the schema of the engine)');
    expect((await run(['validate', '.', '--engine', 'none'], env)).code).to.equal(0);
    files.write(
      Object.fromEntries(
        Array.from({ length: 25 }, (_, index) => [`${index}.yaml`, idleManifest(`p${index}`)]),
      ),
    );
    const many = await run(['validate', '.'], env);
    expect(many.stdout).to.include('skipped: engine: more than 24 pipelines');
  });

  it('run transform tests, and fail with the one that fails', async () => {
    files.write({ 'good.yaml': withTest('good', '.level == "info"'), 'none.yaml': idleManifest('none') });
    const fine = await run(['test', '.']);
    expect([fine.code, fine.stderr]).to.deep.equal([0, '']);
    expect(fine.stdout)
      .to.include('ok       good / parse: a level is set')
      .and.include('1 passed, 0 failed, 0 skipped');
    files.write({ 'bad.yaml': withTest('bad', '.level == "debug"') });
    const bad = await run(['test', '.', '--format', 'github']);
    expect(bad.code).to.equal(1);
    expect(bad.stdout).to.match(
      /^::error file=bad\.yaml,line=\d+,col=\d+::the test "a level is set" of "parse" failed[^\n]*%0Acorrect "parse", or the test$/m,
    );
    const junit = await run(['test', '.', '--format', 'junit']);
    expect(junit.stdout).to.include('tests="2" failures="1"');
    const validated = await run(['validate', '.']);
    expect(validated.code).to.equal(1);
    expect(validated.stdout.match(/a level is set/g)).to.have.length(1);
    files.write({ 'bad.yaml': withTest('bad', '.level == "info"').replace('[ticks]', '[tikcs]') });
    const untested = await run(['test', '.', '--format', 'json']);
    expect(untested.code).to.equal(1);
    expect(JSON.parse(untested.stdout).environments[0].pipelines[0].problems[0].stage).to.equal('graph');
  });

  it('end with 2 where there is nothing to be looked at', async () => {
    files.write({ 'a-file': '' });
    mkdirSync(join(files.folder, 'empty'));
    const CASES: [readonly string[], RegExp][] = [
      [['validate', 'nowhere'], /there is no folder nowhere/],
      [['validate', 'a-file'], /is a file/],
      [['validate', 'empty'], /holds no manifests/],
      [['validate', '.', '--path', 'nope'], /there is no such folder/],
      [['validate', '.', '--path', '../x'], /without \.\./],
      [['validate', '--nope'], /Unknown option '--nope'/],
      [['validate', '--format', 'xml'], /--format takes text, json, junit, github, not "xml"/],
      [['validate', '.', 'more'], /"more" is one argument too many/],
      [['test', 'nowhere'], /there is no folder/],
      [['validate', ''], /an argument is empty/],
      [['validate', '--path='], /--path is empty/],
      [['nope'], /there is no command "nope"/],
      [['validte'], /there is no command "validte"; did you mean validate\?/],
      [['validate', '--fromat', 'json'], /Unknown option '--fromat'; did you mean --format\?/],
      [['help', 'nope'], /there is no command "nope"/],
      [[], /^headgate <command>/],
    ];
    for (const [args, said] of CASES) {
      const { code, stdout, stderr } = await run(args);
      expect([code, stdout], `${args.join(' ')}: ${stderr}`).to.deep.equal([2, '']);
      expect(stderr)
        .to.match(said)
        .and.not.to.match(/^ +at /m);
    }
    files.write({ 'environments/x/a.yaml': idleManifest('a') });
    // What the launcher needs of a shell's tools, and no git.
    for (const tool of ['dirname', 'readlink', 'uname', 'sh'])
      files.link(
        `tools/${tool}`,
        execFileSync('/bin/sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim(),
      );
    files.link('tools/node', process.execPath);
    const noGit = await runProcess(['validate'], { PATH: join(files.folder, 'tools') });
    expect([noGit.code, noGit.stdout]).to.deep.equal([2, '']);
    expect(noGit.stderr).to.match(/git was not found; install it, or put it on the PATH$/m);
    mkdirSync(join(files.folder, 'odd'));
    const odd = Buffer.concat([
      Buffer.from(join(files.folder, 'odd/')),
      Buffer.from([0xff]),
      Buffer.from('.yaml'),
    ]);
    writeFileSync(odd, 'a: 1');
    const noText = await run(['validate', 'odd']);
    expect([noText.code, noText.stdout]).to.deep.equal([2, '']);
    expect(noText.stderr).to.match(/cannot be read: its name is not UTF-8; rename it/);
    const noRoom = await run(['validate'], { TMPDIR: join(files.folder, 'nowhere') });
    expect([noRoom.code, noRoom.stdout]).to.deep.equal([2, '']);
    expect(noRoom.stderr)
      .to.match(/temporary files cannot be written to .*nowhere \(ENOENT\); make room there, or set TMPDIR/)
      .and.not.to.match(/^ +at /m);
  });

  it('write nothing that steers a terminal or a workflow, whatever stands in files and their names', async () => {
    files.write({
      'environments/x/a.yaml': idleManifest('a').replace(
        'spec:',
        'spec:\n  "b\\e[31m\\n::error::c\\r::warning::d\\u202e": 1',
      ),
      'environments/x/e\u001b[2J\n::error::f.yaml': 'a: [',
    });
    for (const format of ['text', 'github', 'junit']) {
      const { code, stdout } = await run(['validate', '--format', format]);
      expect(code).to.equal(1);
      expect(stdout, format).not.to.match(/[\x00-\x09\x0b-\x1f]/);
      expect(stdout, format).to.match(format === 'junit' ? /failures="2"/ : /, 2 problems$/m);
      if (format === 'junit') continue;
      const commands = stdout.split('\n').filter((line) => /^\s*::/.test(line));
      expect(commands).to.have.length(format === 'github' ? 2 : 0);
      expect(commands.every((line) => line.startsWith('::error file=environments/x/'))).to.equal(true);
    }
  });

  it('refuse an instruction of Headgate that is misspelt: none is taken for none', async () => {
    const withAnnotation = (text: string) => idleManifest('a', '', `, annotations: { ${text} }`);
    for (const [written, said] of [
      ['headgate/prune: nevr', 'Did you mean `never`?'],
      ['headgate/prnue: never', 'Did you mean `headgate/prune`?'],
    ] as const) {
      files.write({ 'a.yaml': withAnnotation(written) });
      const { code, stdout } = await run(['validate', '.']);
      expect([code, stdout.includes(said)], stdout).to.deep.equal([1, true]);
    }
    files.write({ 'a.yaml': withAnnotation('headgate/prune: never, example.com/owner: me') });
    expect((await run(['validate', '.'])).code).to.equal(0);
  });

  it('explain every command', async () => {
    expect((await runProcess(['version'])).stdout).to.match(/^headgate \d+\.\d+\.\d+/);
    expect((await run(['help', 'plan'])).stdout).to.equal((await run(['plan', '--help'])).stdout);
    const overview = await run(['help']);
    expect(overview.code).to.equal(0);
    for (const name of ['serve', 'validate', 'plan', 'test', 'export', 'migrate', 'keys', 'audit']) {
      expect(overview.stdout).to.match(new RegExp(`^  ${name} `, 'm'));
      const { code, stdout, stderr } = await run([name, '--help']);
      expect([code, stderr], name).to.deep.equal([0, '']);
      expect(stdout).to.include(`headgate ${name}`);
    }
  });
});
