/** A real sshd on a port of 127.0.0.1, as the user that runs the tests, with keys of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { commit, createBareRepository, git, type ImportedCommit } from '../clients/fast-import.ts';
import { freePort } from '../harness/headgate.ts';
import { until } from '../harness/until.ts';

const PLACES = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/sbin/sshd'];

/** Null where it is not installed, or the client beside it is not. */
export function findSshd(): string | null {
  const client = ['/usr/bin/ssh-keygen', '/usr/local/bin/ssh-keygen'].some(existsSync);
  return client ? (PLACES.find(existsSync) ?? null) : null;
}

export class SshServer {
  readonly root = mkdtempSync(join(tmpdir(), 'headgate-sshd-'));
  /** Opens it. */
  readonly key: string;
  /** Lines of known_hosts. */
  knownHosts = '';
  port = 0;
  #child: ChildProcess | null = null;
  #said = '';

  private constructor() {
    this.makeKey('client');
    this.makeKey('host');
    this.key = readFileSync(join(this.root, 'client'), 'utf8');
    writeFileSync(join(this.root, 'authorized_keys'), readFileSync(join(this.root, 'client.pub')));
  }

  static async start(): Promise<SshServer> {
    const made = new SshServer();
    made.port = await freePort();
    made.knownHosts = `[localhost]:${made.port} ${readFileSync(join(made.root, 'host.pub'), 'utf8')}`;
    await made.#run();
    return made;
  }

  /** In OpenSSH's own form; the public half stands beside it. */
  makeKey(name: string): string {
    const file = join(this.root, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file]);
    return readFileSync(file, 'utf8');
  }

  /** The same server with another host key, as after it was set up anew. */
  async changeHostKey(): Promise<void> {
    await this.#end();
    for (const name of ['host', 'host.pub']) rmSync(join(this.root, name));
    this.makeKey('host');
    await this.#run();
  }

  /** It shows a certificate for these names from now on. Answers the public key of the authority that signed it. */
  async certify(...names: string[]): Promise<string> {
    await this.#end();
    for (const name of ['authority', 'authority.pub']) rmSync(join(this.root, name), { force: true });
    this.makeKey('authority');
    const sign = ['-q', '-s', join(this.root, 'authority'), '-I', 'host', '-h', '-n', names.join(',')];
    execFileSync('ssh-keygen', [...sign, join(this.root, 'host.pub')]);
    await this.#run();
    return readFileSync(join(this.root, 'authority.pub'), 'utf8').trim();
  }

  gitdir(repository = 'config'): string {
    return join(this.root, `${repository}.git`);
  }

  url(repository = 'config'): string {
    return `ssh://${userInfo().username}@localhost:${this.port}${this.gitdir(repository)}`;
  }

  create(repository = 'config'): string {
    const gitdir = this.gitdir(repository);
    createBareRepository(gitdir);
    git(gitdir, 'config', 'uploadpack.allowFilter', 'true');
    return gitdir;
  }

  commit(wanted: Partial<ImportedCommit> & Pick<ImportedCommit, 'files'>, repository = 'config'): string {
    return commit(this.gitdir(repository), { branch: 'main', message: 'change', ...wanted });
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.root, { recursive: true, force: true });
  }

  async #run(): Promise<void> {
    // Of Debian's sshd, where root runs it.
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    const config = join(this.root, 'sshd_config');
    writeFileSync(
      config,
      [
        'ListenAddress 127.0.0.1',
        `Port ${this.port}`,
        `HostKey ${join(this.root, 'host')}`,
        ...(existsSync(join(this.root, 'host-cert.pub'))
          ? [`HostCertificate ${join(this.root, 'host-cert.pub')}`]
          : []),
        `AuthorizedKeysFile ${join(this.root, 'authorized_keys')}`,
        'PidFile none',
        'StrictModes no',
        // bash reads ~/.bashrc for a command over ssh at the first shell level: what is in there is none of the tests' business.
        'SetEnv SHLVL=1',
        // Without root it cannot see whether the account is locked, and takes it for one; PAM can.
        `UsePAM ${process.getuid?.() === 0 ? 'no' : 'yes'}`,
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        '',
      ].join('\n'),
    );
    const child = spawn(findSshd() ?? 'sshd', ['-D', '-e', '-f', config], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr?.on('data', (chunk: Buffer) => (this.#said += chunk.toString('utf8')));
    this.#child = child;
    await until(() => answers(this.port), { what: () => `sshd answers: ${this.#said}` });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const closed = once(child, 'exit');
    child.kill('SIGTERM');
    await closed;
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
    socket.on('data', () => socket.destroy());
  });
}
