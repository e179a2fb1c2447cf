/** Pull requests by REST: what a bot sees of them, and which it may merge. */
import { expect } from 'chai';
import { git } from '../../support/clients/fast-import.ts';
import { followBranch, openPull, type RestCall, useRest } from '../../support/clients/rest.ts';
import { useController } from '../../support/harness/controller.ts';
import { useTwoTeams } from '../../support/scenes/two-teams.ts';

interface Pull {
  number: number;
  state: string;
  approvals: number;
  merge: { refusal: string | null };
  reviews: { reviewer: string; verdict: string }[];
}

describe('pull requests by REST', function () {
  this.timeout(60_000);
  const test = useController();
  const teams = useTwoTeams(test);
  const rest = useRest(test, teams);
  const call: RestCall = (...request) => rest.call(...request);
  let made = 0;

  const opened = () => openPull(teams.ours, 'main', ++made);
  const get = async (number: string) =>
    (await call('GET', `/pulls/${number}`)).json<{ pullRequest: Pull }>().pullRequest;
  const merge = (number: string, headSha: string) =>
    call('POST', `/pulls/${number}/merge`, { body: { method: 'squash', headSha } });

  it('come in pages, from the newest', async () => {
    const numbers = [(await opened()).id, (await opened()).id, (await opened()).id].map(Number);
    const page = async (query: string) =>
      (await call('GET', `/pulls?state=open&${query}`)).json<{
        pullRequests: Pull[];
        nextCursor: string | null;
      }>();
    const first = await page('limit=2');
    expect(first.pullRequests.map(({ number }) => number)).to.deep.equal([numbers[2], numbers[1]]);
    const second = await page(`limit=2&cursor=${first.nextCursor}`);
    expect(second.pullRequests.map(({ number }) => number)).to.deep.equal([numbers[0]]);
    expect(second.nextCursor).to.equal(null);
  });

  it('are not merged into a branch that another environment follows, and say so before', async () => {
    const { id, headSha } = await opened();
    expect((await get(id)).merge.refusal).to.be.a('string');
    const answer = await merge(id, headSha);
    expect([answer.status, answer.json<{ code: string }>().code]).to.deep.equal([403, 'FORBIDDEN']);
    expect(answer.text).to.include('Other environments follow');
    expect((await get(id)).state).to.equal('open');
  });

  describe('against a branch that one environment alone follows', () => {
    before(() => followBranch(teams.theirs, 'theirs'));

    it('are merged at the commit that was looked at, and at no other', async () => {
      const { id, headSha } = await opened();
      expect((await get(id)).merge.refusal).to.equal(null);
      // Of no commit, and of the one that the base stands at, which it holds already.
      const base = git(teams.ours.gitdir, 'rev-parse', 'main');
      for (const wrong of ['0'.repeat(40), base]) {
        const refused = await merge(id, wrong);
        expect(refused.status, refused.text).to.equal(409);
        expect(refused.text).to.include('now; review the new commits');
      }
      expect((await get(id)).state).to.equal('open');
      const merged = await merge(id, headSha);
      expect(merged.status, merged.text).to.equal(200);
      expect(merged.json<{ mergeSha: string }>().mergeSha).to.match(/^[0-9a-f]{40}$/);
      expect((await get(id)).state).to.equal('merged');
    });

    it('are reviewed by a key without counting for an approval that a merge needs', async () => {
      await test
        .db('git_bindings')
        .where({ environment_id: teams.ours.environmentId })
        .update({ required_approvals: 1 });
      const { id, headSha } = await opened();
      const body = { verdict: 'approve', headSha, body: 'checks are green' };
      expect((await call('POST', `/pulls/${id}/reviews`, { body })).status).to.equal(200);
      const pull = await get(id);
      expect(pull.reviews.map(({ verdict }) => verdict)).to.deep.equal(['approve']);
      expect(pull.approvals).to.equal(0);
      const refused = await merge(id, headSha);
      expect([refused.status, refused.json<{ code: string }>().code]).to.deep.equal([
        412,
        'PRECONDITION_FAILED',
      ]);
    });
  });
});
