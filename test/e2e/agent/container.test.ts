/** What is there for containers: the image's file and entrypoint, and the DaemonSet. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';

const FOLDER = join(import.meta.dirname, '../../../examples/deploy/agent');
const ENTRYPOINT = join(FOLDER, 'entrypoint.sh');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

/** Instructions of a Dockerfile, continued lines joined. */
const instructions = (text: string): [name: string, rest: string][] =>
  text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.trim().split(/\s+/);
      return [name, rest.join(' ')];
    });

describe('the image of the agent', () => {
  const all = instructions(read('Dockerfile'));
  const of = (wanted: string) => all.filter(([name]) => name === wanted).map(([, rest]) => rest);

  it('has bases of a named version, and takes nothing from the net by hand', () => {
    expect(of('FROM')).to.have.length(2);
    const defaults = Object.fromEntries(of('ARG').map((arg) => arg.split('=') as [string, string]));
    for (const from of of('FROM')) {
      const image = (from.split(' ')[0] ?? '').replace(/\$\{(\w+)\}/g, (_, name) => defaults[name] ?? '');
      expect(image, from).to.match(/^[\w./-]+:\d+\.\d+[\w.-]*$/);
    }
    expect(of('ADD')).to.deep.equal([]);
    expect(of('RUN').join('\n')).not.to.match(/curl|wget|latest|sudo/);
  });

  it('runs as a user by number, under an init, and knows no secret', () => {
    expect(of('USER')).to.deep.equal(['10001:10001']);
    expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).to.deep.equal([
      ...['/usr/bin/tini', '--', '/usr/local/bin/entrypoint.sh'],
    ]);
    expect(of('ENV').join(' ') + of('ARG').join(' ')).not.to.match(/TOKEN|PASSWORD|KEY/);
    const install = of('RUN').find((line) => line.includes('apt-get install')) ?? '';
    expect(install)
      .to.match(/--no-install-recommends/)
      .and.to.match(/rm -rf \/var\/lib\/apt\/lists/);
  });

  it('copies only what its build may see', () => {
    const seen = read('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const sources = of('COPY').filter((rest) => !rest.includes('--from'));
    for (const source of sources) {
      const path = source.split(' ').find((word) => !word.startsWith('--')) ?? '';
      expect(
        seen.some((line) => path.startsWith(line.slice(1))),
        path,
      ).to.equal(true);
    }
  });
});

describe('the entrypoint of the image', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'headgate-entrypoint-'));
    chmodSync(dir, 0o755);
    command('agent', 'echo "agent $(id -u):$(id -g) pid $$ groups $(id -G) with $*"');
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  function command(name: string, script: string): void {
    writeFileSync(join(dir, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    chmodSync(join(dir, name), 0o755);
  }
  function run(env: Record<string, string> = {}, args: string[] = []) {
    const full = {
      PATH: `${dir}:/usr/sbin:/usr/bin:/bin`,
      SVC_AGENT_BIN: join(dir, 'agent'),
      SVC_DATA_DIR: join(dir, 'data'),
      ...env,
    };
    const { status, stdout, stderr, pid } = spawnSync('sh', [ENTRYPOINT, ...args], {
      env: full,
      encoding: 'utf8',
    });
    return { status, stdout, stderr, pid };
  }
  const asRoot = process.getuid?.() === 0 ? it : it.skip;

  it('is understood by sh', () => {
    expect(spawnSync('sh', ['-n', ENTRYPOINT], { encoding: 'utf8' }).stderr).to.equal('');
    expect(statSync(ENTRYPOINT).mode & 0o111).not.to.equal(0);
  });

  it('becomes the agent, under its own pid', () => {
    const { stdout, pid } = run({}, ['--channel', 'dev']);
    expect(stdout).to.include(`pid ${pid} `).and.to.include('with --channel dev');
  });

  it('runs another program where one is named', () => {
    expect(run({}, ['echo', 'hello']).stdout).to.equal('hello\n');
  });

  asRoot('becomes the user, to whom it gives the data directory', () => {
    mkdirSync(join(dir, 'data/pipelines'), { recursive: true });
    writeFileSync(join(dir, 'secret'), 'of root', { mode: 0o600 });
    symlinkSync(join(dir, 'secret'), join(dir, 'data/link'));
    const { stdout, stderr, pid } = run({ SVC_AGENT_USER: 'nobody' });
    expect(stderr).to.equal('');
    const { uid, gid, mode } = statSync(join(dir, 'data'));
    expect(stdout).to.match(new RegExp(`^agent ${uid}:${gid} pid ${pid} `));
    expect(uid).not.to.equal(0);
    expect(mode & 0o777).to.equal(0o700);
    expect(statSync(join(dir, 'data/pipelines')).uid).to.equal(uid);
    expect(statSync(join(dir, 'secret')).uid, 'what a link leads to').to.equal(0);
  });

  asRoot('takes a number that no user has', () => {
    const { stdout, stderr } = run({ SVC_AGENT_USER: '54321' });
    expect(stderr).to.equal('');
    expect(stdout).to.match(/^agent 54321:54321 pid \d+ groups 54321 /);
  });

  asRoot('makes a user that is missing', () => {
    const log = join(dir, 'log');
    command('useradd', `echo "$@" >>${log}; touch ${dir}/made`);
    command(
      'id',
      `case "$*" in *collector*) [ -e ${dir}/made ] || exit 1; echo 4321 ;; *) exec /usr/bin/id "$@" ;; esac`,
    );
    command('setpriv', `echo "setpriv $*"`);
    const { stdout } = run({ SVC_AGENT_USER: 'collector' });
    expect(readFileSync(log, 'utf8')).to.match(/--system .* collector\n$/);
    expect(stdout).to.match(
      /^setpriv --reuid 4321 --regid 4321 --init-groups --no-new-privs -- .*\/agent\n$/,
    );
    expect(statSync(join(dir, 'data')).uid).to.equal(4321);
  });

  asRoot('refuses a name that is none, and a user where it is not root', () => {
    expect(run({ SVC_AGENT_USER: '-x' })).to.include({ status: 1, stdout: '' });
    expect(run({ SVC_AGENT_USER: 'a b;id' }).stderr).to.include('must be the name or the number');
    const { status, stderr } = spawnSync(
      'setpriv',
      ['--reuid', '54321', '--clear-groups', 'sh', ENTRYPOINT],
      {
        env: { PATH: '/usr/bin:/bin', SVC_AGENT_BIN: join(dir, 'agent'), SVC_AGENT_USER: 'nobody' },
        encoding: 'utf8',
      },
    );
    expect(status).to.equal(1);
    expect(stderr).to.include('needs a container that starts as root');
  });

  it('says where there is no agent', () => {
    const { status, stderr } = run({ SVC_AGENT_BIN: join(dir, 'nothing') });
    expect(status).to.equal(1);
    expect(stderr).to.match(/^entrypoint: there is no agent at /);
  });
});

interface Manifest {
  apiVersion: string;
  kind: string;
  spec: {
    selector: { matchLabels: Record<string, string> };
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  };
}
interface PodSpec {
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds: number;
  tolerations: { operator: string }[];
  volumes: { name: string; hostPath?: { path: string; type: string } }[];
  containers: {
    image: string;
    env: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
    ports: { name: string; containerPort: number }[];
    livenessProbe: { httpGet: { path: string; port: string } };
    resources: { requests: object; limits: { memory: string } };
    securityContext: { allowPrivilegeEscalation: boolean; readOnlyRootFilesystem: boolean };
    volumeMounts: { name: string; mountPath: string }[];
  }[];
}

describe('the DaemonSet', () => {
  const documents = parseAllDocuments(read('daemonset.yaml'));
  const manifest = documents[0]?.toJS() as Manifest;
  const pod = manifest.spec.template.spec;
  const [container] = pod.containers;

  it('is one document without a fault, whose selector finds its pods', () => {
    expect(documents).to.have.length(1);
    expect(documents[0]?.errors).to.deep.equal([]);
    expect(manifest).to.include({ apiVersion: 'apps/v1', kind: 'DaemonSet' });
    expect(manifest.spec.template.metadata.labels).to.include(manifest.spec.selector.matchLabels);
  });

  it('keeps the data of the agent on the node, and mounts only what is there', () => {
    const names = pod.volumes.map(({ name }) => name);
    for (const { name } of container?.volumeMounts ?? []) expect(names).to.include(name);
    const data = container?.volumeMounts.find(({ mountPath }) => mountPath === '/var/lib/svc-agent');
    expect(pod.volumes.find(({ name }) => name === data?.name)?.hostPath?.type).to.equal('DirectoryOrCreate');
  });

  it('takes the token from a secret, and no variable that the agent does not know', () => {
    const token = container?.env.find(({ name }) => name === 'SVC_TOKEN');
    expect(token?.value).to.equal(undefined);
    expect(token?.valueFrom?.secretKeyRef).to.include({ name: 'headgate-agent', key: 'token' });
    const help = readFileSync(join(import.meta.dirname, '../../../agent/command-line.ts'), 'utf8');
    for (const { name } of container?.env ?? [])
      if (name.startsWith('SVC_')) expect(help, name).to.include(`  ${name} `);
  });

  it('leaves the agent time to stop its engines, watches it, and bounds it', () => {
    expect(pod.terminationGracePeriodSeconds).to.be.at.least(40);
    expect(pod.automountServiceAccountToken).to.equal(false);
    expect(pod.tolerations).to.deep.equal([{ operator: 'Exists' }]);
    expect(container?.ports).to.deep.equal([{ name: 'metrics', containerPort: 9090 }]);
    expect(container?.livenessProbe.httpGet).to.deep.equal({ path: '/metrics', port: 'metrics' });
    expect(container?.resources.limits.memory).to.match(/^\d+[MG]i$/);
    expect(container?.securityContext).to.include({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
    });
    expect(container?.image).to.match(/:v\d+\.\d+\.\d+$/);
  });
});
