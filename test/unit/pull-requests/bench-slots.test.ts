/** What is asked of pull requests runs processes of git: how many at a time, of one user and of all. */
import { expect } from 'chai';
import type { Binding } from '../../../controller/delivery/bindings/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { createWorkspaceSlots, withWorkspace } from '../../../reconcilers/merge/workspace.ts';
import { until } from '../../support/harness/until.ts';

describe('work on pull requests', () => {
  const clock = manualClock();
  const slots = createWorkspaceSlots();
  const ends: (() => void)[] = [];
  const outcomes: string[] = [];
  let running = 0;
  const services = { repositories: { of: () => ({ gitdir: '/nowhere' }) }, baseUrl: 'http://localhost' };

  function ask(actor: object): Promise<void> {
    const ctx = { actor, clock, services, signal: new AbortController().signal } as unknown as Context;
    return withWorkspace(slots, ctx, {} as Binding, async () => {
      running += 1;
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
    }).then(
      () => void outcomes.push('done'),
      (error: { code: string }) => void outcomes.push(error.code),
    );
  }
  const user = (userId: string) => ({ type: 'user', userId, name: userId, email: `${userId}@example.org` });

  it('goes on for a few of one user, who waits for himself, of all within a bound, and of reconcilers as they ask', async () => {
    const asked = Array.from({ length: 80 }, () => ask(user('ada')));
    await until(() => outcomes.length === 16, { what: 'those too many to be refused' });
    expect(new Set(outcomes)).to.deep.equal(new Set(['TOO_MANY_REQUESTS']));
    expect(running).to.equal(4);
    for (const name of ['bea', 'cid', 'dan']) asked.push(...Array.from({ length: 4 }, () => ask(user(name))));
    await until(() => running === 12, { what: 'others to begin' });
    asked.push(ask({ type: 'git' }));
    await until(() => running === 13, { what: 'the reconciler to begin' });
    let most = 0;
    await until(
      () => {
        most = Math.max(most, running);
        for (const end of ends.splice(0)) end();
        return outcomes.length === asked.length;
      },
      { what: 'all of it' },
    );
    expect(most).to.equal(13);
    expect(outcomes.filter((one) => one === 'done')).to.have.lengthOf(asked.length - 16);
  });
});
