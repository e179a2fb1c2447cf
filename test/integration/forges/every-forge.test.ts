/**
 * What Headgate asks of a forge, on each of them, over HTTP. The servers answer as the vendors describe: GitHub's, GitLab's
 * and Gitea's answers are typed by their clients, Bitbucket's are written by hand after its documentation.
 */
import { expect } from 'chai';
import type { Forge } from '../../../reconcilers/forges/forge.ts';
import { clientOf, SERVERS, shaOf, useForge } from '../../support/servers/forges/index.ts';

const REQUEST = {
  title: 'Promote orders',
  body: 'It **changes** orders.',
  branch: 'headgate/promote/orders-1',
  base: 'main',
};
const MARKER = '<!-- headgate:plan:env-1 -->';
const STATUS = {
  context: 'headgate/production',
  state: 'pending' as const,
  description: 'the plan is being made',
  url: 'https://headgate.example.org/e/1/promotions/1',
};

for (const Server of SERVERS) {
  describe(`the client of ${Server.name.replace('Server', '')}`, () => {
    const { server, client } = useForge(Server);
    let forge: Forge;
    beforeEach(() => {
      forge = client.forge;
    });
    const sticky = (body: string, commentId: string | null = null) =>
      forge.comment(1, { marker: MARKER, body: `${MARKER}\n${body}`, commentId });

    it('opens one', async () => {
      const made = await forge.open(REQUEST);
      expect(made).to.deep.include({
        ...{ number: 1, title: REQUEST.title, body: REQUEST.body, branch: REQUEST.branch, base: 'main' },
        ...{
          state: 'open',
          isDraft: false,
          isFork: false,
          author: server.us,
          mergeSha: null,
          mergedBy: null,
        },
        ...{ headSha: shaOf(`tip of ${REQUEST.branch}`), closedAt: null },
      });
      expect(made.url).to.match(new RegExp(`^${server.origin}/`));
      expect(made.updatedAt).to.deep.equal(server.find(1).updatedAt);
      expect(server.asked.every(({ headers }) => headers['user-agent'] === 'headgate')).to.equal(true);
    });

    it('goes on with the one that is open for the same branch and base, and with no other', async () => {
      server.add({ branch: REQUEST.branch, base: 'other' });
      server.add({ branch: REQUEST.branch, state: 'closed' });
      server.add({ branch: REQUEST.branch, isFork: true });
      const first = await forge.open(REQUEST);
      const again = await forge.open({ ...REQUEST, title: 'Promote orders again', body: 'More.' });
      expect(again.number).to.equal(first.number);
      expect(again).to.include({ title: 'Promote orders again', body: 'More.' });
      expect(server.pulls.map(({ state }) => state)).to.deep.equal(['open', 'closed', 'open', 'open']);
    });

    it('changes what it is told to and leaves the rest', async () => {
      server.add({ title: 'before', body: 'the text' });
      await forge.update(1, { title: 'after' });
      expect(server.find(1)).to.include({ title: 'after', body: 'the text' });
      await forge.update(1, { body: 'another text' });
      expect(server.find(1)).to.include({ title: 'after', body: 'another text', state: 'open' });
    });

    it('closes one that is open, and leaves one that is over', async () => {
      server.add();
      server.add();
      server.merge(2, 'merge');
      await forge.close(1);
      await forge.close(1);
      await forge.close(2);
      expect(server.pulls.map(({ state }) => state)).to.deep.equal(['closed', 'merged']);
      const closed = await forge.get(1);
      expect(closed).to.include({ state: 'closed', mergeSha: null, mergedBy: null });
      expect(closed?.closedAt).to.deep.equal(server.find(1).closedAt);
    });

    for (const how of ['merge', 'squash', 'rebase'] as const)
      it(`tells the commit with which one came in by ${how}, and who did it`, async () => {
        server.add();
        const { mergeSha } = server.merge(1, how);
        expect(await forge.get(1)).to.include({ state: 'merged', mergeSha, mergedBy: 'bob' });
      });

    it('has nothing for a number that is not there, and says so where the project is not', async () => {
      expect(await forge.get(4)).to.equal(null);
      const elsewhere = clientOf(server, { forgeProject: 'acme/other' });
      expect(await faultOf(elsewhere.forge.get(1))).to.match(/^not-found: .* compare forge\.project/);
      await elsewhere.forges.close();
    });

    it('tells of a fork and of a draft', async () => {
      server.add({ isFork: true, branch: 'main' });
      server.add({ isDraft: true });
      expect(await forge.get(1)).to.include({ isFork: true, branch: 'main', headSha: shaOf('head 1') });
      expect(await forge.get(2)).to.include({ isFork: false, isDraft: true });
    });

    it('lists those that are open against a branch, over all pages', async () => {
      server.mostPerPage = 3;
      // Azure DevOps hands out as many as it is asked for.
      const count = server.name === 'azure-devops' ? 230 : 8;
      for (let n = 0; n < count; n += 1) server.add();
      server.add({ base: 'other' });
      server.add({ state: 'closed' });
      const open = await forge.listOpen('main');
      const numbers = open.map(({ number }) => number).sort((a, b) => a - b);
      expect(numbers).to.deep.equal(Array.from({ length: count }, (_, n) => n + 1));
      expect(server.calls('GET', /pull|merge_requests$/)).to.be.at.least(3);
      expect(open.find(({ number }) => number === 5)).to.include({ headSha: shaOf('head 5'), base: 'main' });
    });

    it('lists 500 and no more', async function () {
      this.timeout(20_000);
      for (let n = 0; n < 520; n += 1) server.add();
      expect(await forge.listOpen('main')).to.have.length(500);
    });

    it('writes one comment and keeps it up to date', async () => {
      server.add();
      const id = await sticky('first');
      expect(await sticky('second', id)).to.equal(id);
      const [only, ...others] = server.commentsOf(1);
      expect(others).to.deep.equal([]);
      expect(only?.body).to.contain('second').and.contain('headgate:plan:env-1').and.not.contain('first');
    });

    it('finds its comment again where the id is lost, and takes nobody else’s', async () => {
      server.add();
      server.mostPerPage = 2;
      for (let n = 0; n < 3; n += 1) server.say(1, 'ann', 'looks good');
      const id = await sticky('first');
      const copied = server.commentsOf(1).find((one) => String(one.id) === id)?.body ?? '';
      server.comments.unshift({ ...server.say(1, 'mallory', copied) });
      server.comments.pop();
      expect(await sticky('second', null)).to.equal(id);
      expect(server.commentsOf(1).find(({ author }) => author === 'mallory')?.body).to.equal(copied);
      expect(server.commentsOf(1)).to.have.length(5);
    });

    it('writes again what somebody has deleted', async () => {
      server.add();
      const id = await sticky('first');
      const before = server.comments.find((one) => String(one.id) === id);
      if (before) before.deleted = true;
      const again = await sticky('second', id);
      expect(again).not.to.equal(id);
      expect(server.commentsOf(1).map((one) => String(one.id))).to.deep.equal([again]);
    });

    it('cuts a comment that is longer than the forge takes', async () => {
      server.add();
      await sticky('x'.repeat(1_200_000));
      expect(server.commentsOf(1)[0]?.body.length).to.be.at.most(1_000_000);
      expect(server.commentsOf(1)[0]?.body.endsWith('…')).to.equal(true);
    });

    it('sets a status, and the next in its place', async () => {
      server.add();
      const sha = shaOf('head 1');
      await forge.setStatus(sha, STATUS);
      await forge.setStatus(sha, STATUS);
      await forge.setStatus(sha, { ...STATUS, state: 'failure', description: `refused: ${'y'.repeat(200)}` });
      await forge.setStatus(sha, { ...STATUS, state: 'success', description: 'rolled out' });
      const words = server.statuses.map(({ state }) => state.toLowerCase());
      expect(words[0]).to.match(/^(pending|inprogress)$/);
      expect(words.at(-2)).to.match(/^fail(ure|ed)$/);
      expect(words.at(-1)).to.match(/^success(ful)?$/);
      for (const status of server.statuses) {
        expect(status).to.include({ sha, context: STATUS.context, url: STATUS.url });
        expect(status.description.length).to.be.at.most(140);
      }
    });

    it('says whether the token is good for all of this', async () => {
      await forge.check();
      server.mayWrite = false;
      expect(await faultOf(forge.check())).to.match(/^credentials: .* give one/);
      server.add();
      expect(await faultOf(forge.update(1, { title: 'x' }))).to.match(
        /^credentials: .* may write pull requests/,
      );
    });

    it('says of a token that may set no status, or write no comment, that it may not, and tries both without a trace', async () => {
      const isTried = server.name !== 'bitbucket-data-center';
      for (const [path, tried] of [
        [/statuses/, isTried],
        [/(comments|notes|threads)$/, true],
      ] as const) {
        server.mayNotWrite = path;
        if (tried) expect(await faultOf(forge.check()), String(path)).to.match(/^credentials: .* give one/);
        else await forge.check();
      }
      server.mayNotWrite = null;
      await forge.check();
      expect([server.statuses, server.comments]).to.deep.equal([[], []]);
    });

    it('knows whether an open one, against whatever base, still has a branch', async () => {
      server.add({ branch: 'topic', base: 'main', state: 'closed' });
      server.add({ branch: 'topic', base: 'main', isFork: true });
      expect(await forge.usesBranch('topic'), 'closed, or of a fork').to.equal(false);
      server.add({ branch: 'topic', base: 'release' });
      expect(await forge.usesBranch('topic'), 'its source').to.equal(true);
      expect(await forge.usesBranch('release'), 'its base').to.equal(true);
      expect(await forge.usesBranch('elsewhere')).to.equal(false);
    });

    it('leaves one out that cannot be read, and takes a branch for used where one cannot', async () => {
      server.add();
      server.add({ headSha: 'no head' });
      const leftOut: string[] = [];
      const listed = await forge.listOpen('main', (sentence) => leftOut.push(sentence));
      expect(listed.map(({ number }) => number)).to.deep.equal([1]);
      expect(leftOut).to.have.length(1);
      expect(leftOut[0]).to.match(/^#2 is left out: /);
      expect(await forge.usesBranch('feature-2')).to.equal(true);
    });

    it('says what to fetch for the head of one', () => {
      const refs = [false, true].map((isFork) => forge.headRef({ number: 12, branch: 'a/b', isFork }));
      const wanted: Record<string, (string | null)[]> = {
        github: ['refs/pull/12/head', 'refs/pull/12/head'],
        gitlab: ['refs/merge-requests/12/head', 'refs/merge-requests/12/head'],
        gitea: ['refs/pull/12/head', 'refs/pull/12/head'],
        bitbucket: ['refs/heads/a/b', null],
        'bitbucket-data-center': ['refs/pull-requests/12/from', 'refs/pull-requests/12/from'],
        'azure-devops': ['refs/heads/a/b', null],
      };
      expect(refs).to.deep.equal(wanted[forge.name]);
    });
  });
}

async function faultOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'nothing',
    (error: { fault?: string; message: string }) => `${error.fault}: ${error.message}`,
  );
}
