/** After any sequence of events, every open pull request has the check that a new controller would make. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  listChecks,
  readCheck,
  updatePullRequest,
} from '../../../controller/delivery/pull-requests/index.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { longProperty } from '../../support/harness/long-property.ts';
import type { BoundEnvironment } from '../../support/scenes/bound-environment.ts';
import { PullRequestScene } from '../../support/scenes/pull-request-scene.ts';

const PULLS = [1, 2, 3] as const;
const NAMES = ['web', 'edge', 'rest'] as const;

const manifest = fc.record({ name: fc.constantFrom(...NAMES), kind: fc.constantFrom('good', 'bad', 'gone') });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('push' as const), number: fc.constantFrom(...PULLS), manifest }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('apply' as const, 'base' as const), manifest }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('close' as const, 'reopen' as const),
      number: fc.constantFrom(...PULLS),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('pass' as const, 'passes' as const, 'restart' as const) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe('checks of pull requests', () => {
  it('are those of a new controller after any interleaving of pushes, base moves, closes and passes', async function () {
    this.timeout(180_000);
    const scene = await PullRequestScene.open();
    const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const env = await scene.environment('here');
      await env.apply({ web: idleManifest('web'), edge: idleManifest('edge') });
      for (const number of PULLS)
        await scene.open(env, { [`own-${number}`]: idleManifest(`own-${number}`) }, `topic-${number}`);
      for (const [index, one] of steps.entries()) await take(scene, env, one, index);
      const after = await settled(scene, env);
      await scene.db('pull_request_checks').delete();
      await scene.restart();
      expect(after).to.deep.equal(await settled(scene, env));
    });
    try {
      await fc.assert(
        property.afterEach(() => scene.clear()),
        longProperty(4),
      );
    } finally {
      await scene.close();
    }
  });
});

function text({ name, kind }: { name: string; kind: string }, index: number): string | null {
  if (kind === 'gone') return null;
  const good = idleManifest(name, `step ${index}`);
  return kind === 'good' ? good : good.replace('[ticks]', '[tocks]');
}

async function take(scene: PullRequestScene, env: BoundEnvironment, one: Step, index: number): Promise<void> {
  switch (one.do) {
    case 'push': {
      const pull = await scene.pull(env, one.number);
      await scene.push(env, pull, { [one.manifest.name]: text(one.manifest, index) });
      return;
    }
    case 'apply':
      await env.apply({
        [one.manifest.name]: text(one.manifest, index),
        [`base-${index}`]: idleManifest(`base-${index}`),
      });
      return;
    case 'base':
      env.commit({ [one.manifest.name]: text(one.manifest, index) });
      return;
    case 'close':
    case 'reopen': {
      const { id } = await scene.pull(env, one.number);
      await updatePullRequest(scene.db, id, { state: one.do === 'close' ? 'closed' : 'open' });
      return;
    }
    case 'restart':
      await scene.restart();
      return;
    case 'pass':
      await scene.pass(env);
      return;
    case 'passes':
      await Promise.all([scene.pass(env), scene.pass(env)]);
  }
}

/** The check of each open one once no pass has anything left to do. */
async function settled(scene: PullRequestScene, env: BoundEnvironment) {
  for (let pass = 0; pass < 3; pass += 1) await scene.pass(env);
  const open = (await scene.pulls(env)).filter(({ state }) => state === 'open');
  const all = await listChecks(
    scene.db,
    open.map(({ id }) => id),
  );
  expect(all, 'each has one').to.have.length(open.length);
  return Promise.all(
    open.map(async ({ id, headSha }) => {
      const check = await readCheck(scene.db, id, env.id);
      expect(check?.headSha).to.equal(headSha);
      const { state, summary, reason, baseSha, plan } = check ?? {};
      return { state, summary, reason, baseSha, plan: plan && { ...plan, plannedAt: null } };
    }),
  );
}
