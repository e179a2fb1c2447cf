/** Git requests that somebody holds open: their number is bounded, and nobody else waits for them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { runGit, withCredentials } from '../../support/clients/git-client.ts';
import { type HttpResponse, send } from '../../support/clients/http.ts';
import { startTestController, type TestController } from '../../support/harness/controller.ts';
import { untilWaiting } from '../../support/harness/lock-waiters.ts';
import { until } from '../../support/harness/until.ts';
import { makeTwoTeams, type TwoTeams } from '../../support/scenes/two-teams.ts';
import type { TestUser } from '../../support/users/person.ts';

/** Of one user at a time, and how many more may wait. */
const SLOTS = 6;
const WAITING = 16;

/** Processes of git that this one, which the controller runs in, has started for requests. */
function backends(): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      const [, parent] = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return Number(parent) === process.pid && command.includes('http-backend');
    } catch {
      return false;
    }
  }).length;
}

describe('git requests that are held open', function () {
  this.timeout(60_000);
  let test: TestController;
  let teams: TwoTeams;
  let remote: string;
  let editor: string;
  let viewer: string;
  const held: ClientRequest[] = [];

  const tokenOf = async (person: TestUser) =>
    (await person.mutate<{ token: string }>('user.createToken', { name: 'git' })).token;
  const basic = (token: string) => `Basic ${Buffer.from(`git:${token}`).toString('base64')}`;
  /** What a push begins with that makes these refs. */
  const wanting = (refs: readonly string[], sha = 'a'.repeat(40)): string => {
    const lines = refs.map((ref, n) => `${'0'.repeat(40)} ${sha} ${ref}${n === 0 ? '\0report-status' : ''}`);
    return `${lines.map((line) => (line.length + 4).toString(16).padStart(4, '0') + line).join('')}0000`;
  };
  /** Those who hold requests open go, and the controller has heard of it. */
  async function leave(): Promise<void> {
    for (const call of held.splice(0)) call.destroy();
    await send(`${test.url}/healthz`);
  }
  /** A request whose body does not come to its end. */
  function hold(service: 'git-upload-pack' | 'git-receive-pack', body: string): void {
    const call = request(`${remote}/${service}`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: basic(editor),
        'content-type': `application/x-${service}-request`,
        'transfer-encoding': 'chunked',
      },
    });
    call.on('error', () => {});
    call.write(body);
    held.push(call);
  }

  before(async () => {
    test = await startTestController();
    teams = await makeTwoTeams(test);
    await teams.root.mutate('gitSync.configure', { environmentId: teams.theirs.environmentId, mode: 'off' });
    remote = test.controller.cloneUrl;
    editor = await tokenOf(teams.editor);
    viewer = await tokenOf(teams.viewer);
  });
  after(async () => {
    for (const call of held) call.destroy();
    await teams?.git.remove();
    await test?.stop();
  });

  it('are few of one user, who then waits or is told when to come again, and others do not wait', async () => {
    for (let n = 0; n < SLOTS / 2; n += 1) {
      hold('git-upload-pack', '0014command=ls-refs\n');
      // A push that has said what it wants, and whose pack does not come.
      hold('git-receive-pack', wanting([`refs/heads/held-${n}`]));
    }
    await until(() => backends() === SLOTS, { what: () => `${SLOTS} processes: ${backends()}` });
    const other = await runGit(['ls-remote', '--', withCredentials(remote, 'git', viewer)]);
    expect(other.code, other.stderr).to.equal(0);

    let refused: HttpResponse | null = null;
    const asked = Array.from({ length: WAITING + 1 }, async () => {
      const url = `${remote}/info/refs?service=git-upload-pack`;
      const answer = await send(url, { headers: { authorization: basic(editor) } });
      if (answer.status === 429) refused = answer;
      return answer.status;
    });
    await until(() => refused !== null, { what: 'the one too many to be refused', everyMs: 5 });
    expect((refused as HttpResponse | null)?.headers['retry-after']).to.equal('10');
    const listed = await runGit(['ls-remote', '--', withCredentials(remote, 'git', editor)]);
    expect(listed.code).not.to.equal(0);
    expect(listed.stderr)
      .to.match(/remote: You have 6 git requests under way, and no more are taken; try again in 10 s/)
      .and.include('429');
    expect(backends()).to.equal(SLOTS);

    for (const call of held.splice(0)) call.destroy();
    const statuses = await Promise.all(asked);
    expect(statuses.sort()).to.deep.equal([...Array(WAITING).fill(200), 429]);
    await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
  });

  for (const table of ['personal_tokens', 'git_bindings', 'repository_activity'])
    it(`give their slots back where the client goes while ${table} is asked`, async () => {
      await test.db.transaction(async (tx) => {
        await tx.raw('LOCK TABLE ?? IN ACCESS EXCLUSIVE MODE', [table]);
        for (let n = 0; n < SLOTS; n += 1)
          if (n % 2 === 0 && table !== 'repository_activity')
            hold('git-upload-pack', '0014command=ls-refs\n');
          else hold('git-receive-pack', wanting([`refs/heads/left-${n}`]));
        await untilWaiting(test.db, SLOTS);
        await leave();
      });
      const listed = await runGit(['ls-remote', '--', withCredentials(remote, 'git', editor)]);
      expect(listed.code, listed.stderr).to.equal(0);
      await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
    });

  it('leave nothing of a pack behind that breaks off', async () => {
    const objects = join(test.controller.gitdir, 'objects');
    const unpacked = () => readdirSync(objects).filter((name) => name.startsWith('tmp_objdir'));
    hold('git-receive-pack', `${wanting(['refs/heads/half'])}PACK\0\0\0\x02\0\0\0\x05`);
    await until(() => unpacked().length === 1, { what: 'git to begin' });
    await leave();
    await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
    expect(unpacked()).to.deep.equal([]);
  });

  it('are done to the end where a push is all there and its client goes, and leave no lock', async () => {
    const { gitdir } = test.controller;
    const head = (await runGit(['rev-parse', 'refs/heads/main'], gitdir)).stdout.trim();
    const folder = join(gitdir, 'refs', 'heads', 'many');
    const made = () => (existsSync(folder) ? readdirSync(folder) : []);
    const names = Array.from({ length: 1_500 }, (_, n) => `refs/heads/many/${n}`);
    hold('git-receive-pack', wanting(names, head));
    // An empty pack, with its checksum: all that is pushed is there.
    held[0]?.end(Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex'));
    await until(() => made().length > 20, { what: 'the first refs', everyMs: 1 });
    await leave();
    await until(() => backends() === 0, { what: () => `no process: ${backends()}` });
    expect(made()).to.have.lengthOf(names.length);
    expect(made().filter((name) => name.endsWith('.lock'))).to.deep.equal([]);
  });
});
