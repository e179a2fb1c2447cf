/** One environment of a reconcile scene: its repository, its passes, and the rows that they write. */
import type { TSchema } from 'typebox';
import { findBinding } from '../../../controller/delivery/bindings/index.ts';
import { insertPipeline } from '../../../controller/pipelines/lifecycle/store.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { Execute, Operation } from '../../../controller/platform/operation/operation.ts';
import { type PassResult, runPass } from '../../../reconcilers/git/pass.ts';
import type { Remote } from '../../../reconcilers/git/pass-types.ts';
import { createPassMemory } from '../../../reconcilers/git/read/pass-memory.ts';
import { renderReport } from '../../../reconcilers/git/render-report.ts';
import type { Clock } from '../../../reconcilers/loops/clock.ts';
import type { Condition } from '../../../schemas/api/common.ts';
import type { GitPolicy } from '../../../schemas/api/delivery/git-policy.ts';
import type { ImportedCommit } from '../clients/fast-import.ts';
import { ConfigRepository, PRODUCTION } from './config-repository.ts';
import type { ReconcileScene } from './reconcile.ts';

/** The lines of a pass' report. */
export const reportLines = ({ report }: PassResult): string[] => renderReport(report);
export const reportText = (result: PassResult): string => reportLines(result).join('\n');

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

/** A row of `git_import_errors`. */
export interface ImportErrorRow {
  path: string;
  line: number | null;
  name: string | null;
  stage: string;
  message: string;
  hint: string;
  created_at: Date;
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
  /** Set where the repository is a mirror. */
  remote?: Remote;
  /** False for a pass of a new leader, which has nothing in memory. */
  remembering?: boolean;
}

export class BoundEnvironment {
  readonly repository = new ConfigRepository();
  readonly #memory = createPassMemory();
  readonly scene: ReconcileScene;
  readonly id: string;
  readonly name: string;
  readonly bindingId: string;

  constructor(scene: ReconcileScene, names: { id: string; name: string; bindingId: string }) {
    this.scene = scene;
    this.id = names.id;
    this.name = names.name;
    this.bindingId = names.bindingId;
  }

  /** Files of the environment's `pipelines` folder by name without ending; null deletes. */
  commit(files: Readonly<Record<string, string | null>>, more: Partial<ImportedCommit> = {}): string {
    const placed = Object.entries(files).map(([name, text]) => [pathOf(name), text] as const);
    return this.repository.commit(Object.fromEntries(placed), more);
  }

  /** One pass over the head of the branch, as the loop runs it. */
  async pass(asked: PassRequest = {}): Promise<PassResult> {
    const binding = await findBinding(this.scene.db, this.id);
    if (!binding) throw new Error('the environment is not bound');
    const signal = asked.signal ?? new AbortController().signal;
    // Another leader takes the notes of what changed.
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

  /** What Ada does about this environment. */
  async execute<I extends TSchema, O extends TSchema>(operation: Operation<I, O>, input: object) {
    const ctx = this.scene.context(this.id, { actor: { type: 'system', name: 'Ada' } });
    return this.scene.execute(operation, ctx, { environmentId: this.id, ...input });
  }

  /** The same, for an input without an environment. */
  async byHand<I extends TSchema, O extends TSchema>(operation: Operation<I, O>, input: object) {
    const ctx = this.scene.context(this.id, { actor: { type: 'system', name: 'Ada' } });
    return this.scene.execute(operation, ctx, input);
  }

  /** Replaces the policy of the binding. */
  async setPolicy(policy: Partial<GitPolicy>): Promise<void> {
    await this.scene
      .db('git_bindings')
      .where({ id: this.bindingId })
      .update({ policy: JSON.stringify(policy) });
  }

  /** A pipeline that somebody has made in the UI; answers its id. */
  async insertPipeline(name: string): Promise<string> {
    const id = await insertPipeline(this.scene.db, this.id, {
      ...{ name, description: 'made by hand', nodeSelector: null, logLevel: 'info', drainSeconds: null },
      ...{ nodes: [], edges: [], globalConfig: {}, labels: {}, dependsOn: [] },
    });
    if (id === null) throw new Error(`another pipeline is called ${name}`);
    return id;
  }

  /** A pass whose process dies after this many operations. */
  async killedPass({ after = 1, ...asked }: PassRequest & { after?: number } = {}): Promise<void> {
    const stop = new AbortController();
    let done = 0;
    const execute: Execute = async (operation, ctx, input) => {
      const output = await this.scene.execute(operation, ctx, input);
      done += 1;
      if (done === after) stop.abort(new Error('killed'));
      return output;
    };
    const failure = await this.pass({ ...asked, signal: stop.signal, execute }).catch((error) => error);
    if (!(failure instanceof Error)) throw new Error('the pass was not killed');
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

  /** Names of the pipelines without a tombstone. */
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

  /** What is wrong with manifests now, by path and line. */
  importErrors(): Promise<ImportErrorRow[]> {
    return this.scene.db('git_import_errors').where({ binding_id: this.bindingId }).orderBy(['path', 'line']);
  }

  async condition(name: string, type: Condition['type']): Promise<Condition> {
    const found = (await this.manifest(name)).conditions.find((one) => one.type === type);
    if (!found) throw new Error(`${name} has no condition ${type}`);
    return found;
  }

  /** Everything that a pass can write, except its own time: equal texts mean that it wrote nothing. */
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
