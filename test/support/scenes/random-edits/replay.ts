/** Carries a sequence out on a real environment, and holds it to its promises on the way and at the end. */
import { expect } from 'chai';
import { readInventory } from '../../../../controller/delivery/bindings/index.ts';
import type { PassResult } from '../../../../reconcilers/git/pass.ts';
import { acts, makePlan, type Plan } from '../../../../reconcilers/git/plan/plan.ts';
import { identityOf } from '../../../../reconcilers/git/read/identity.ts';
import {
  createSourceCache,
  type Desired,
  openRepository,
  readDesired,
} from '../../../../reconcilers/source/index.ts';
import { type BoundEnvironment, reportLines } from '../bound-environment.ts';
import { PRODUCTION } from '../config-repository.ts';
import { bringBack, clean, takeOut } from './clean.ts';
import { Controller } from './controller.ts';
import { EDITS } from './edits.ts';
import { History, isOnTop, lineOf, type WrittenCommit } from './history.ts';
import { observe } from './observed.ts';
import {
  expectEqualToGit,
  expectIdentities,
  expectNothingLost,
  expectTombstonesIdle,
  expectVersionsFromGit,
  Memory,
} from './promises.ts';
import type { EditStep, Passes, Sequence } from './sequence.ts';
import { emptyWorld, type World } from './world.ts';

const SETTLES_WITHIN = 3;

/** What was broken, and what the sequence did until then, a line each. */
export class BrokenPromise extends Error {
  constructor(story: readonly string[], cause: unknown) {
    const told = cause instanceof Error ? cause.message : String(cause);
    super(`${told}\n\n${story.join('\n')}`, { cause });
    this.name = 'BrokenPromise';
  }
}

/** @throws BrokenPromise */
export async function replay(env: BoundEnvironment, { start, steps }: Sequence): Promise<void> {
  const replayed = new Replay(env);
  try {
    await replayed.begin(start);
    for (const [index, step] of steps.entries()) await replayed.carryOut(step, `uid-${index + 1}`);
    await replayed.finish();
  } catch (error) {
    throw new BrokenPromise(replayed.story, error);
  } finally {
    await replayed.controller.loop.stop();
    env.repository.remove();
  }
}

class Replay {
  readonly story: string[] = [];
  readonly env: BoundEnvironment;
  readonly controller: Controller;
  readonly #history: History;
  readonly #memory = new Memory();
  /** Every commit that was written, whatever the branch says now. */
  readonly #commits = new Map<string, WrittenCommit>();
  readonly #desired = new Map<string, Desired>();

  constructor(env: BoundEnvironment) {
    this.env = env;
    this.controller = new Controller(env);
    this.#history = new History(env.repository.gitdir);
  }

  async begin(manifests: number): Promise<void> {
    const world = emptyWorld();
    const made = Array.from({ length: manifests }, (_, n) =>
      EDITS.create(world, { a: n, b: n, c: n, fresh: `uid-of-${n + 1}` }),
    );
    await this.#commit(world, null, made.join('; '));
    await this.#watchedPass();
  }

  async carryOut(step: EditStep, fresh: string): Promise<void> {
    await this.#edit(step, fresh);
    if (step.passes.type !== 'nothing') await this.#look(step.passes);
  }

  async #edit({ edit, rewrites, a, b, c }: EditStep, fresh: string): Promise<void> {
    const { head } = this.#history;
    const line = [...lineOf(head)];
    const back = (commits: number) => line[commits] ?? line.at(-1) ?? null;
    if (edit === 'setBack') {
      const earlier = back(1 + (a % 4));
      if (!earlier) return;
      this.#history.moveTo(earlier);
      this.story.push(`set the branch back to ${earlier.message}`);
      return;
    }
    const parent = back(rewrites);
    const instead = parent === head ? '' : `instead of what came after ${parent?.message}: `;
    if (edit === 'revert') {
      const earlier = back(rewrites + 1 + (a % 4));
      await this.#commit(earlier?.world ?? emptyWorld(), parent, `${instead}revert to ${earlier?.message}`);
      return;
    }
    const world = structuredClone(parent?.world ?? emptyWorld());
    const did = EDITS[edit](world, { a, b, c, fresh });
    await this.#commit(world, parent, `${instead}${did}`);
  }

  /** Messages are unique, so that a version tells which commit made it. */
  async #commit(world: World, parent: WrittenCommit | null, did: string): Promise<void> {
    const commit = await this.#history.commit(world, parent, `commit ${this.#commits.size + 1}`);
    this.#commits.set(commit.sha, commit);
    this.story.push(`${commit.message}: ${did}`);
  }

  async #look(passes: Passes): Promise<void> {
    const { controller } = this;
    this.story.push(`  … ${passes.type}${'at' in passes ? `, ended at transaction ${passes.at}` : ''}`);
    switch (passes.type) {
      case 'wake':
        for (let n = 0; n < passes.times; n += 1) controller.loop.wake('binding', `signal ${n}`);
        return;
      case 'forget':
        return controller.forgottenPass();
      case 'look':
        await controller.loop.reconcile('binding', 'a push');
        break;
      case 'pass':
        await this.#watchedPass();
        break;
      case 'pass twice': {
        await this.#watchedPass();
        const written = await this.env.fingerprint();
        await controller.pass();
        expect(await this.env.fingerprint(), 'what a second look leaves').to.equal(written);
        break;
      }
      case 'three passes at once':
        await controller.threeAtOnce();
        break;
      case 'stopped pass':
      case 'fenced pass':
        await controller.endedPass(passes.type, passes.at);
    }
    this.#memory.expectKept(await observe(this.env));
  }

  /** One pass with nothing beside it. */
  async #watchedPass(): Promise<PassResult> {
    await this.controller.loop.idle();
    const { head } = this.#history;
    const before = await observe(this.env);
    const desired = await this.#read(head?.sha ?? '');
    const onTop = before.appliedCommit === null || isOnTop(head, before.appliedCommit);
    await this.#plan(desired, onTop);
    const result = await this.controller.pass();
    this.story.push(...reportLines(result).map((line) => `      ${line}`));
    expect(result.error, 'the error of the pass').to.equal(null);
    const after = await observe(this.env);
    expectNothingLost(before, after, { desired, onTop });
    expectIdentities(before, after, desired);
    this.#memory.expectKept(after);
    return result;
  }

  /** A plan of what is there; in whatever order it was read, the plan is the same. */
  async #plan(desired: Desired, descends: boolean): Promise<Plan> {
    const recorded = await readInventory(this.env.scene.db, this.env.bindingId);
    const more = { descends, allowedDeletes: 0 };
    const plan = makePlan({ desired, recorded, ...more });
    const turned = { ...desired, manifests: desired.manifests.toReversed() };
    const again = makePlan({ desired: turned, recorded: recorded.toReversed(), ...more });
    expect(again.hash, 'the hash of the same plan, of rows in another order').to.equal(plan.hash);
    return plan;
  }

  /** A clean commit on top of what is applied; then another without what only annotations had kept. */
  async finish(): Promise<void> {
    await this.controller.loop.idle();
    const { appliedCommit } = await observe(this.env);
    if (appliedCommit !== null && !isOnTop(this.#history.head, appliedCommit)) {
      this.story.push('  … pass, for the branch is not on top of what is applied');
      await this.#watchedPass();
    }
    const world = structuredClone(this.#history.head?.world ?? emptyWorld());
    clean(world);
    const kept = bringBack(world, await observe(this.env));
    const also = kept.size > 0 ? `, and bring back ${[...kept].join(', ')}, which annotations kept` : '';
    await this.#commit(world, this.#history.head, `mend everything${also}`);
    await this.#settle();
    if (kept.size === 0) return;
    const without = structuredClone(world);
    takeOut(without, kept);
    clean(without);
    await this.#commit(without, this.#history.head, 'delete what was brought back');
    await this.#settle();
  }

  /** Passes until one finds nothing to do; then everything that is promised of a clean commit holds. */
  async #settle(): Promise<void> {
    const reports: string[] = [];
    for (let settled = false; !settled; ) {
      if (reports.length > SETTLES_WITHIN)
        expect.fail(`it does not settle; the passes said\n${reports.join('\n')}`);
      const written = await this.env.fingerprint();
      const result = await this.#watchedPass();
      const { outcome } = result;
      settled = outcome === 'unchanged' && (await this.env.fingerprint()) === written;
      reports.push([outcome, ...reportLines(result)].join('\n'));
    }
    const observed = await observe(this.env);
    // Read by nothing that the passes remember.
    const { gitdir } = this.env.repository;
    const sha = this.#history.head?.sha ?? '';
    const desired = await readDesired(openRepository(gitdir), sha, PRODUCTION, createSourceCache());
    const { changes } = await this.#plan(desired, true);
    const left = changes.flatMap((change) =>
      acts(change) ? [`${change.action} of ${identityOf(change.previous ?? change.manifest)}`] : [],
    );
    expect(left, 'what is still planned').to.deep.equal([]);
    expect(desired.problems, 'the problems of a clean commit').to.deep.equal([]);
    expectEqualToGit(observed, desired);
    expectTombstonesIdle(observed);
    this.#memory.expectKept(observed);
    await expectVersionsFromGit(
      observed,
      (commit) => this.#read(commit),
      (commit) => this.#commits.get(commit)?.message,
    );
  }

  async #read(sha: string): Promise<Desired> {
    const known = this.#desired.get(sha);
    if (known) return known;
    const desired = await this.env.repository.read(sha);
    this.#desired.set(sha, desired);
    return desired;
  }
}
