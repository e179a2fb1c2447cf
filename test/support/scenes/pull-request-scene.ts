/** The loop over pull requests with everything real but the forge: Postgres, git over HTTP, the lease, the bus, the planner. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBinding } from '../../../controller/delivery/bindings/index.ts';
import {
  type Check,
  insertPullRequest,
  listPullRequests,
  type PullRequestRecord,
  pullRequestsOf,
  readCheck,
  updatePullRequest,
} from '../../../controller/delivery/pull-requests/index.ts';
import { createRepositories } from '../../../controller/delivery/repository/index.ts';
import type { Services } from '../../../controller/platform/operation/context.ts';
import { createBus } from '../../../controller/platform/runtime/bus.ts';
import { createLease, type Lease } from '../../../controller/platform/runtime/lease.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import type { Forges } from '../../../reconcilers/forges/index.ts';
import { manualClock } from '../../../reconcilers/loops/clock.ts';
import { createPlanner, type Planner } from '../../../reconcilers/plan-view/index.ts';
import {
  createPullRequestReconciler,
  type PullRequestReconciler,
} from '../../../reconcilers/pull-requests/loop.ts';
import { git } from '../clients/fast-import.ts';
import { localGuard } from '../fixtures/local-targets.ts';
import { idleManifest } from '../fixtures/pipelines.ts';
import { testDatabase } from '../harness/postgres.ts';
import { until } from '../harness/until.ts';
import { GitServer } from '../servers/git-server.ts';
import { MemoryForge } from '../servers/memory-forge.ts';
import type { BoundEnvironment } from './bound-environment.ts';
import { ReconcileScene } from './reconcile.ts';

const silent = createLogger('silent');

/** One controller of several on the database. */
export interface SceneController {
  lease: Lease;
  reconciler: PullRequestReconciler;
  /** As if it had been killed: nothing is given back. */
  stop(): Promise<void>;
}

export class PullRequestScene {
  forge = new MemoryForge();
  /** For the bindings that have a forge. */
  forges: Pick<Forges, 'of'> = { of: (binding) => (binding.forge === 'none' ? null : this.forge) };
  clock = manualClock(Date.now());
  readonly planner: Planner = createPlanner();
  /** Plans that were made, by commit. */
  readonly plans: string[] = [];
  /** What they read the repository by: each starts a git process of its own. */
  readonly readers = new Set<object>();
  /** Called before each plan; its error fails the plan. */
  beforePlan: () => void | Promise<void> = () => {};
  /** Signals of the bus, by loop and key. */
  readonly woken: string[] = [];
  readonly scene: ReconcileScene;
  readonly url: string;
  readonly #server: GitServer;
  readonly #folders: string[] = [];
  readonly #controllers: SceneController[] = [];
  #stopBus: () => Promise<void> = async () => {};
  #first: Promise<SceneController> | null = null;

  private constructor(scene: ReconcileScene, url: string, server: GitServer) {
    this.scene = scene;
    this.url = url;
    this.#server = server;
  }

  static async open(): Promise<PullRequestScene> {
    const database = await testDatabase();
    const made = new PullRequestScene(
      await ReconcileScene.open(database),
      database.url,
      await GitServer.start(),
    );
    const bus = createBus({ url: database.url, log: silent });
    await bus.start();
    bus.on('wake', ({ loop, key }) => void made.woken.push(`${loop} ${key}`));
    made.#stopBus = () => bus.stop();
    return made;
  }

  get db() {
    return this.scene.db;
  }

  /** Moves the clock on; 31 s are past the pauses after the first three errors of a forge (5, 10 and 20 s at most). */
  later(ms = 31_000): void {
    this.clock.advance(ms);
  }

  /** What the forge of the environment answered last, if it was an error. */
  async forgeErrorOf({ id }: BoundEnvironment): Promise<string | null> {
    return (await findBinding(this.db, id))?.forgeError?.message ?? null;
  }

  /**
   * Bound to its repository over HTTP with the forge, or to the embedded one. `near`: with the forge, and its repository is at
   * hand, so that nothing is fetched; for what is asked of the forge alone, of one environment.
   */
  async environment(where: 'forge' | 'near' | 'here' | 'remote' = 'forge'): Promise<BoundEnvironment> {
    const env = await this.scene.environment();
    const name = `repository-${env.id}`;
    const isEmbedded = where === 'here' || where === 'near';
    if (!isEmbedded) {
      symlinkSync(env.repository.gitdir, join(this.#server.root, `${name}.git`));
      for (const [key, value] of [
        ['http.receivepack', 'true'],
        ['uploadpack.allowFilter', 'true'],
        ['uploadpack.allowAnySHA1InWant', 'true'],
      ] as const)
        git(env.repository.gitdir, 'config', key, value);
    }
    const url = isEmbedded ? 'embedded' : this.#server.url(name);
    const forge = where === 'forge' || where === 'near' ? 'github' : 'none';
    await this.db('git_bindings')
      .where({ id: env.bindingId })
      .update({ repository_url: url, forge, read_at: new Date() });
    return env;
  }

  /** Of a controller that leads alone, unless another does. */
  async controller(embedded?: BoundEnvironment): Promise<SceneController> {
    const bus = createBus({ url: this.url, log: silent });
    await bus.start();
    const root = mkdtempSync(join(tmpdir(), 'headgate-pull-requests-'));
    this.#folders.push(root);
    const { keyring } = this.scene.services;
    const gitdir = embedded?.repository.gitdir ?? join(root, 'nowhere');
    const services: Services = {
      ...this.scene.services,
      bus,
      repositories: createRepositories({ root, gitdir, keyring, guard: localGuard(), log: silent }),
    };
    const { db } = this;
    const lease = createLease({ db, key: 'leader', log: silent, ttlMs: 60_000, renewMs: 200 });
    // Before the reconciler exists: its start as the leader is no part of the cases.
    await lease.start();
    const planner: Pick<Planner, 'planOfCommit'> = {
      planOfCommit: async (ctx, binding, source) => {
        this.plans.push(source.commit);
        this.readers.add(source.repository);
        await this.beforePlan();
        return this.planner.planOfCommit(ctx, binding, source);
      },
    };
    const reconciler = createPullRequestReconciler({
      ...{ db, clock: this.clock, log: silent, services, lease, planner },
      forges: { of: (binding) => this.forges.of(binding) },
    });
    let stopped = false;
    const stop = async () => {
      if (stopped) return;
      stopped = true;
      await reconciler.stop();
      await lease.stop();
      await bus.stop();
    };
    const made = { lease, reconciler, stop };
    this.#controllers.push(made);
    return made;
  }

  /** One pass of the first controller. */
  async pass(env: BoundEnvironment, trigger = 'test'): Promise<void> {
    this.#first ??= this.controller(env);
    await (await this.#first).reconciler.reconcile(env.id, trigger);
  }

  /** Stops the first controller, with all that it has in memory. */
  async restart(): Promise<void> {
    await (await this.#first)?.stop();
    this.#first = null;
  }

  /** Removes what a case leaves: its controllers, bindings and pull requests, and the contents of the forge. */
  async clear(): Promise<void> {
    for (const controller of this.#controllers.splice(0)) await controller.stop();
    this.#first = null;
    await this.db('pull_requests').delete();
    await this.db('git_bindings').delete();
    this.forge = new MemoryForge();
    this.clock = manualClock(Date.now());
    this.beforePlan = () => {};
    this.plans.length = 0;
    this.readers.clear();
    this.woken.length = 0;
  }

  /** A commit on a branch that begins where main stands, unless it is there; main stays. */
  branch(env: BoundEnvironment, name: string, files: Readonly<Record<string, string | null>>): string {
    const { repository } = env;
    const exists = repository.git('for-each-ref', `refs/heads/${name}`) !== '';
    if (!exists) repository.git('update-ref', `refs/heads/${name}`, 'refs/heads/main');
    return env.commit(files, { branch: name });
  }

  /** Somebody opens a pull request on the forge, or pushes to its branch; answers the head. */
  openOnForge(
    env: BoundEnvironment,
    number: number,
    files: Readonly<Record<string, string | null>> = { web: idleManifest('web', 'x') },
  ): string {
    const headSha = this.branch(env, `topic-${number}`, files);
    this.forge.set(number, { headSha });
    return headSha;
  }

  /** A pull request that is kept here, with these files on its branch. */
  open(
    env: BoundEnvironment,
    files: Readonly<Record<string, string | null>> = { web: idleManifest('web', 'x') },
    branch = 'topic',
  ): Promise<PullRequestRecord> {
    return this.openHere(env, branch, this.branch(env, branch, files));
  }

  /** The same for a branch that exists. */
  async openHere(env: BoundEnvironment, branch: string, headSha: string): Promise<PullRequestRecord> {
    const { repositoryUrl: repository } = await env.binding();
    return insertPullRequest(this.db, {
      ...{ bindingId: env.bindingId, repository, title: branch, body: '', base: 'main', branch, headSha },
      ...{ subject: {}, author: 'Ada', authorId: null },
    });
  }

  /** A push to the branch of one, as the pass of git sees it. */
  async push(
    env: BoundEnvironment,
    { id, branch }: PullRequestRecord,
    files: Readonly<Record<string, string | null>>,
  ): Promise<string> {
    const headSha = this.branch(env, branch, files);
    await updatePullRequest(this.db, id, { headSha });
    return headSha;
  }

  async pulls(env: BoundEnvironment): Promise<PullRequestRecord[]> {
    return (await listPullRequests(this.db, pullRequestsOf(await env.binding()))).reverse();
  }

  async pull(env: BoundEnvironment, number: number): Promise<PullRequestRecord> {
    const found = (await this.pulls(env)).find((one) => one.number === number);
    if (!found) throw new Error(`no pull request ${number}`);
    return found;
  }

  async check(env: BoundEnvironment, number = 1): Promise<Check> {
    const found = await readCheck(this.db, (await this.pull(env, number)).id, env.id);
    if (!found) throw new Error(`pull request ${number} has no check`);
    return found;
  }

  /** The check as `state: summary`. */
  async summary(env: BoundEnvironment, number = 1): Promise<string> {
    const { state, summary } = await this.check(env, number);
    return `${state}: ${summary}`;
  }

  async untilWoken(what: string): Promise<void> {
    await until(() => this.woken.includes(what), {
      what: () => `${what} woken, of ${this.woken.join(', ')}`,
    });
  }

  /** Waits for a status that a pass of the loop's own timer reports. */
  async untilReported(sha: string, what: string): Promise<void> {
    await until(() => this.forge.statusOf(sha) === what, {
      what: () => `${what}: ${this.forge.statusOf(sha)}`,
    });
  }

  async close(): Promise<void> {
    for (const controller of this.#controllers) await controller.stop();
    await this.#stopBus();
    await this.scene.close();
    await this.#server.stop();
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}
