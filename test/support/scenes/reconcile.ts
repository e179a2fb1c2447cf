/**
 * Environments bound to real repositories over a real Postgres, where passes run only when the test asks for one: no
 * timer, no file events, no other controller.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Knex } from 'knex';
import type { TSchema } from 'typebox';
import { createGitGateway } from '../../../controller/compose/git-gateway.ts';
import { connect } from '../../../controller/database/connect.ts';
import { findBinding } from '../../../controller/delivery/bindings/index.ts';
import { type GitMode, saveBinding } from '../../../controller/delivery/bindings/store.ts';
import { createRepositories } from '../../../controller/delivery/repository/index.ts';
import { insertEnvironment } from '../../../controller/fleet/environments/store.ts';
import { createSnapshots } from '../../../controller/fleet/status/index.ts';
import { createIdentityProvider } from '../../../controller/identity/oidc/index.ts';
import { insertTeam } from '../../../controller/identity/teams/store.ts';
import { writeAudit } from '../../../controller/insight/audit/index.ts';
import { createEngineChecks } from '../../../controller/pipelines/engine/index.ts';
import { createKeyring } from '../../../controller/platform/crypto/keyring.ts';
import { createOutgoing } from '../../../controller/platform/net/outgoing/index.ts';
import { NO_PROXIES } from '../../../controller/platform/net/proxies.ts';
import type { Context, Services } from '../../../controller/platform/operation/context.ts';
import {
  createExecute,
  type Execute,
  type Operation,
} from '../../../controller/platform/operation/operation.ts';
import { createBus } from '../../../controller/platform/runtime/bus.ts';
import { createJobs } from '../../../controller/platform/runtime/jobs.ts';
import { createLogger } from '../../../controller/platform/runtime/logger.ts';
import { createSecretStores } from '../../../controller/secrets/index.ts';
import { type Clock, systemClock } from '../../../reconcilers/engine/clock.ts';
import { createForges } from '../../../reconcilers/forges/index.ts';
import { type PassResult, runPass } from '../../../reconcilers/git/pass.ts';
import type { Remote } from '../../../reconcilers/git/pass-types.ts';
import { createPassMemory } from '../../../reconcilers/git/read/pass-memory.ts';
import { createPromotionGateway } from '../../../reconcilers/promotions/gateway.ts';
import { resolveManifests } from '../../../reconcilers/promotions/resolve-conflict.ts';
import { createPullRequestGateway } from '../../../reconcilers/pull-requests/gateway.ts';
import type { Condition } from '../../../schemas/api/common.ts';
import type { GitPolicy } from '../../../schemas/api/git-policy.ts';
import type { ImportedCommit } from '../clients/fast-import.ts';
import { localGuard } from '../fixtures/local-targets.ts';
import { type TestDatabase, testDatabase } from '../harness/postgres.ts';
import { ConfigRepository, PRODUCTION } from './config-repository.ts';

export interface PipelineState {
  id: string;
  name: string;
  uid: string | null;
  managedBy: 'ui' | 'git';
  isDraft: boolean;
  tombstoned: boolean;
  description: string | null;
  version: number;
  deployedVersion: number | null;
}

export interface ManifestState {
  name: string;
  objectId: string | null;
  appliedHash: string | null;
  prunePending: boolean;
  conditions: Condition[];
}

export interface VersionState {
  version: number;
  changelog: string | null;
  commit: string | null;
  author: string | null;
  path: string | null;
  source: string;
}

export interface PassRequest {
  trigger?: string;
  signal?: AbortSignal;
  fence?: NonNullable<Context['fence']>;
  execute?: Execute;
  batch?: number;
  clock?: Clock;
  /** The repository is the copy of one elsewhere. */
  remote?: Remote;
  /** False for a pass of a process that has just become the leader: it reads everything again. */
  remembering?: boolean;
}

const silent = createLogger('silent');
/** Passes are handed their repository. */
const NOWHERE = join(tmpdir(), 'headgate-no-repository');

export class ReconcileScene {
  readonly db: Knex;
  readonly services: Services;
  readonly execute = createExecute(writeAudit);
  readonly #database: TestDatabase;
  readonly #environments: BoundEnvironment[] = [];
  #teamId: string | null = null;

  private constructor(database: TestDatabase) {
    this.#database = database;
    this.db = connect(database.url, { poolSize: 4, name: 'headgate-test' });
    const keyring = createKeyring('0123456789abcdef0123456789abcdef');
    const bus = createBus({ url: database.url, log: silent });
    const targetGuard = localGuard();
    const forges = createForges({ keyring, guard: targetGuard, log: silent, proxies: NO_PROXIES });
    const outgoing = createOutgoing({ guard: targetGuard, proxies: NO_PROXIES, log: silent });
    this.services = {
      bus,
      jobs: createJobs({ url: database.url, log: silent }),
      keyring,
      secretStores: createSecretStores({ keyring, guard: targetGuard, execCommands: [] }),
      engine: createEngineChecks({ engineBin: null, log: silent }),
      baseUrl: 'http://localhost',
      releases: { list: async () => ({ releases: [], checkedAt: new Date(0) }), find: async () => null },
      cloneUrl: '',
      git: createGitGateway(),
      forges,
      promotions: createPromotionGateway(),
      pullRequests: createPullRequestGateway({ forges, resolve: resolveManifests }),
      repositories: createRepositories({
        ...{ root: NOWHERE, gitdir: NOWHERE, keyring, guard: targetGuard, log: silent },
      }),
      listeningSince: () => 0,
      statuses: createSnapshots({ bus, clock: systemClock }),
      servedChecksums: async () => new Map(),
      targetGuard,
      outgoing,
      identityProvider: createIdentityProvider({ outgoing, bus, clock: systemClock }),
    };
  }

  static async open(database?: TestDatabase): Promise<ReconcileScene> {
    return new ReconcileScene(database ?? (await testDatabase()));
  }

  /** A new environment, bound to a new and empty repository. `first`: nothing of it was looked at yet. */
  async environment(mode: GitMode = 'sync', { first = false } = {}): Promise<BoundEnvironment> {
    this.#teamId ??= await insertTeam(this.db, 'team');
    const name = `env-${this.#environments.length + 1}`;
    const id = await insertEnvironment(this.db, { name, teamId: this.#teamId });
    const bindingId = await saveBinding(this.db, {
      environmentId: id,
      mode,
      repositoryUrl: 'embedded',
      ref: 'main',
      path: PRODUCTION.path,
      sharedPaths: PRODUCTION.sharedPaths,
      intervalSeconds: 60,
    });
    if (!first) await this.db('git_bindings').where({ id: bindingId }).update({ begun_at: this.db.fn.now() });
    const made = new BoundEnvironment(this, id, bindingId);
    this.#environments.push(made);
    return made;
  }

  context(environmentId: string, more: Partial<Context> = {}): Context {
    return {
      db: this.db,
      actor: { type: 'git', commit: '', author: '', environmentId },
      clock: systemClock,
      log: silent,
      signal: new AbortController().signal,
      requestId: 'test',
      ipAddress: null,
      services: this.services,
      ...more,
    };
  }

  async close(): Promise<void> {
    for (const environment of this.#environments) environment.repository.remove();
    await this.services.engine.stop();
    await this.db.destroy();
    await this.#database.drop();
  }
}

export class BoundEnvironment {
  readonly repository = new ConfigRepository();
  readonly #memory = createPassMemory();
  readonly scene: ReconcileScene;
  readonly id: string;
  readonly bindingId: string;

  constructor(scene: ReconcileScene, id: string, bindingId: string) {
    this.scene = scene;
    this.id = id;
    this.bindingId = bindingId;
  }

  /** Files of the environment's `pipelines` folder by name without ending; null deletes. */
  commit(files: Readonly<Record<string, string | null>>, more: Partial<ImportedCommit> = {}): string {
    const placed = Object.entries(files).map(([name, text]) => [pathOf(name), text] as const);
    return this.repository.commit(Object.fromEntries(placed), more);
  }

  /** One pass over what the branch says now, as the loop would run it. */
  async pass(asked: PassRequest = {}): Promise<PassResult> {
    const binding = await findBinding(this.scene.db, this.id);
    if (!binding) throw new Error('the environment is not bound');
    const signal = asked.signal ?? new AbortController().signal;
    // Whoever led before has no say any more: the notes of what changed are taken by the other.
    if (asked.remembering === false) this.#memory.forget();
    return runPass({
      ctx: this.scene.context(this.id, {
        signal,
        ...(asked.fence ? { fence: asked.fence } : {}),
        ...(asked.clock ? { clock: asked.clock } : {}),
      }),
      execute: asked.execute ?? this.scene.execute,
      binding,
      repository: this.repository.repo,
      cache: this.repository.cache,
      trigger: asked.trigger ?? 'timer',
      ...(asked.batch === undefined ? {} : { batch: asked.batch }),
      ...(asked.remote ? { remote: asked.remote } : {}),
      ...(asked.remembering === false ? {} : { memory: this.#memory }),
      signal,
    });
  }

  /** Commits and runs a pass. */
  async apply(files: Readonly<Record<string, string | null>>, message = 'change'): Promise<PassResult> {
    this.commit(files, { message });
    return this.pass();
  }

  /** What Ada says to the loop, or does by hand. */
  async say<I extends TSchema, O extends TSchema>(operation: Operation<I, O>, input: object) {
    const ctx = this.scene.context(this.id, { actor: { type: 'system', name: 'Ada' } });
    return this.scene.execute(operation, ctx, { environmentId: this.id, ...input });
  }

  /** The same, where the input names no environment. */
  async byHand<I extends TSchema, O extends TSchema>(operation: Operation<I, O>, input: object) {
    const ctx = this.scene.context(this.id, { actor: { type: 'system', name: 'Ada' } });
    return this.scene.execute(operation, ctx, input);
  }

  /** What the binding allows. */
  async allow(policy: Partial<GitPolicy>): Promise<void> {
    await this.scene
      .db('git_bindings')
      .where({ id: this.bindingId })
      .update({ policy: JSON.stringify(policy) });
  }

  /** Audit actions about this environment that begin with `gitSync`, oldest first. */
  async audited(): Promise<string[]> {
    return this.scene
      .db('audit_log')
      .where({ environment_id: this.id })
      .where('action', 'like', 'gitSync.%')
      .orderBy('id')
      .pluck('action');
  }

  async binding() {
    const binding = await findBinding(this.scene.db, this.id);
    if (!binding) throw new Error('the environment is not bound');
    return binding;
  }

  /** Those with a tombstone too. */
  async pipelines(): Promise<PipelineState[]> {
    const { rows } = await this.scene.db.raw<{ rows: PipelineState[] }>(
      `SELECT p.id, p.name, p.uid, p.managed_by AS "managedBy", p.is_draft AS "isDraft", p.description,
         p.tombstoned_at IS NOT NULL AS tombstoned, l.version, d.version AS "deployedVersion"
       FROM pipelines p LEFT JOIN pipeline_versions l ON l.id = p.latest_version_id
       LEFT JOIN pipeline_versions d ON d.id = p.deployed_version_id
       WHERE p.environment_id = ? ORDER BY lower(p.name), p.id`,
      [this.id],
    );
    return rows;
  }

  /** Names of the pipelines that live. */
  async living(): Promise<string[]> {
    return (await this.pipelines()).filter((one) => !one.tombstoned).map((one) => one.name);
  }

  async pipeline(name: string): Promise<PipelineState> {
    const found = (await this.pipelines()).find((one) => one.name === name);
    if (!found) throw new Error(`no pipeline is called ${name}`);
    return found;
  }

  versions(pipelineId: string): Promise<VersionState[]> {
    return this.scene
      .db('pipeline_versions')
      .where({ pipeline_id: pipelineId })
      .orderBy('version')
      .select('version', 'changelog', 'source', {
        commit: 'commit_sha',
        author: 'commit_author',
        path: 'commit_path',
      });
  }

  async manifest(name: string): Promise<ManifestState> {
    const found = await this.scene
      .db('git_manifests')
      .where({ binding_id: this.bindingId, name_key: name.toLowerCase() })
      .first('name', 'conditions', {
        objectId: 'object_id',
        appliedHash: 'applied_hash',
        prunePending: 'prune_pending',
      });
    if (!found) throw new Error(`the inventory has no ${name}`);
    return found;
  }

  async manifestNames(): Promise<string[]> {
    return this.scene
      .db('git_manifests')
      .where({ binding_id: this.bindingId })
      .orderBy('name_key')
      .pluck('name');
  }

  async condition(name: string, type: Condition['type']): Promise<Condition> {
    const found = (await this.manifest(name)).conditions.find((one) => one.type === type);
    if (!found) throw new Error(`${name} has no condition ${type}`);
    return found;
  }

  /** Everything that a pass could have written, but the time of the pass itself: equal texts mean that nothing was. */
  async fingerprint(): Promise<string> {
    const { db } = this.scene;
    const { rows } = await db.raw(
      `SELECT
         (SELECT json_agg(json_build_array(p.id, p.xmin::text) ORDER BY p.id) FROM pipelines p WHERE p.environment_id = :id) AS pipelines,
         (SELECT json_agg(json_build_array(v.id, v.xmin::text) ORDER BY v.id) FROM pipeline_versions v
            JOIN pipelines p ON p.id = v.pipeline_id WHERE p.environment_id = :id) AS versions,
         (SELECT json_agg(json_build_array(m.name_key, m.xmin::text) ORDER BY m.kind, m.name_key) FROM git_manifests m
            WHERE m.binding_id = :binding) AS manifests,
         (SELECT config_revision FROM environments WHERE id = :id) AS revision,
         (SELECT count(*) FROM git_jobs WHERE binding_id = :binding) AS jobs,
         (SELECT count(*) FROM git_import_errors WHERE binding_id = :binding) AS errors,
         (SELECT count(*) FROM audit_log WHERE environment_id = :id) AS audit`,
      { id: this.id, binding: this.bindingId },
    );
    return JSON.stringify(rows[0]);
  }
}

export const pathOf = (name: string) => `${PRODUCTION.path}/pipelines/${name}.yaml`;
