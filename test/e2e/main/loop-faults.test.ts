/** A controller, or its Postgres, that dies in the middle of a pass: what was begun is ended, once, by the words that were said. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiClient } from '../../../controller/demo/client.ts';
import type { GitSyncStatus } from '../../../schemas/api/delivery/git-sync.ts';
import { commit } from '../../support/clients/fast-import.ts';
import { idleManifest } from '../../support/fixtures/pipelines.ts';
import { unexplainedLines } from '../../support/fixtures/unexplained.ts';
import type { Replica } from '../../support/harness/serve.ts';
import { until } from '../../support/harness/until.ts';
import { type Site, type SiteOptions, startSite } from '../../support/scenes/site.ts';

/** A pass applies up to 200 at once, so that both are some transactions: there is a middle to be killed in. */
const MANY = 520;
const DELETED = 250;
/** Stays when the others are deleted. */
const LAST = `p${MANY - 1}`;
const many = (description = '', count = MANY) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, idleManifest(`p${n}`, description)]));

/** A site with a way to write into its repository and to see what a pass has done so far. */
class Scene {
  readonly site: Site;
  controller: Replica;

  private constructor(site: Site) {
    this.site = site;
    this.controller = site.controller;
  }

  static async open(options?: SiteOptions): Promise<Scene> {
    return new Scene(await startSite(options));
  }

  write(files: Record<string, string | null>, message = 'change'): string {
    return commit(this.site.gitdir, {
      branch: 'main',
      message,
      files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`staging/${name}.yaml`, text])),
    });
  }

  api(): Promise<ApiClient> {
    return this.site.api(this.controller);
  }

  async status(): Promise<GitSyncStatus> {
    return (await this.api()).query('gitSync.status', { environmentId: this.site.environmentId });
  }

  async untilStatus(what: string, is: (status: GitSyncStatus) => boolean): Promise<GitSyncStatus> {
    let status: GitSyncStatus | undefined;
    await until(
      async () => {
        status = await this.status().catch(() => undefined);
        return status !== undefined && is(status);
      },
      {
        what: () => `${what}: ${JSON.stringify({ ...status, manifests: [] })}\n${this.controller.output()}`,
        timeoutMs: 60_000,
        everyMs: 100,
      },
    );
    if (!status) throw new Error('unreachable');
    return status;
  }

  untilApplied(sha: string): Promise<GitSyncStatus> {
    return this.untilStatus(
      `${sha.slice(0, 7)} to be applied`,
      ({ appliedCommit }) => appliedCommit?.sha === sha,
    );
  }

  async count(sql: string): Promise<number> {
    const { rows } = await this.site.db.raw<{ rows: { count: string }[] }>(
      `SELECT count(*) FROM pipelines p LEFT JOIN pipeline_versions v ON v.id = p.latest_version_id
       WHERE p.environment_id = ? AND ${sql}`,
      [this.site.environmentId],
    );
    return Number(rows[0]?.count);
  }

  /** A moment in the middle of a pass. */
  async untilSome(sql: string, most: number): Promise<void> {
    let some = 0;
    await until(
      async () => {
        some = await this.count(sql).catch(() => 0);
        return some > 0;
      },
      { what: 'the pass to have begun', timeoutMs: 60_000, everyMs: 5 },
    );
    expect(some, 'the pass is not over').to.be.lessThan(most);
  }

  async killAndStart(): Promise<void> {
    await this.controller.end('SIGKILL');
    this.controller = await this.site.serve();
  }

  /** Each version is there once, with its one entry in the audit log, and numbers have no gaps. */
  async expectCleanHistory(): Promise<void> {
    const { rows } = await this.site.db.raw<{
      rows: { versions: string; audited: string; highest: string }[];
    }>(
      `SELECT count(*) AS versions, sum(a.entries) AS audited, sum((v.version = h.highest)::int) AS highest
       FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id,
         LATERAL (SELECT count(*) AS highest FROM pipeline_versions o WHERE o.pipeline_id = p.id) h,
         LATERAL (SELECT count(*) AS entries FROM audit_log a
           WHERE a.entity_id = p.id AND a.actor_type = 'git' AND (a.diff->'version'->>1)::int = v.version
             AND a.diff->'version'->>0 IS DISTINCT FROM a.diff->'version'->>1) a
       WHERE p.environment_id = ?`,
      [this.site.environmentId],
    );
    const [row] = rows;
    expect(row?.audited, 'entries in the audit log').to.equal(row?.versions);
    const { rows: pipelines } = await this.site.db.raw<{ rows: unknown[] }>(
      'SELECT DISTINCT pipeline_id FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id WHERE p.environment_id = ?',
      [this.site.environmentId],
    );
    expect(Number(row?.highest), 'pipelines whose versions have no gap').to.equal(pipelines.length);
  }
}

describe('in the middle of a pass', function () {
  this.timeout(180_000);
  this.slow(60_000);

  describe('the controller is killed', () => {
    let scene: Scene;
    before(async () => {
      scene = await Scene.open();
    });
    after(() => scene?.site.remove());

    it('while it applies: the next start goes on, makes no version twice, and leaves what is held', async () => {
      const { environmentId } = scene.site;
      await scene.untilApplied(scene.write({ held: idleManifest('held', 'as git says') }));
      await (await scene.api()).mutate('gitSync.hold', {
        environmentId,
        kind: 'Pipeline',
        name: 'held',
        reason: 'It floods the archive',
      });
      const byHand = { description: 'as an operator left it' };
      await scene.site.db('pipelines').where({ environment_id: environmentId, name: 'held' }).update(byHand);

      const sha = scene.write(many());
      await scene.untilSome("p.name LIKE 'p%'", MANY);
      await scene.killAndStart();
      const status = await scene.untilApplied(sha);
      expect(
        await scene.count("p.name LIKE 'p%' AND v.version = 1 AND p.deployed_version_id = v.id"),
      ).to.equal(MANY);
      await scene.expectCleanHistory();
      const held = status.manifests.find(({ name }) => name === 'held');
      expect(held?.conditions.find(({ type }) => type === 'Applied')).to.include({
        status: 'False',
        reason: 'Held',
      });
      expect(await scene.count(`p.description = '${byHand.description}'`)).to.equal(1);
    });

    it('while it does what was approved: the next start ends that, and does no more', async () => {
      const { environmentId } = scene.site;
      const gone = Object.fromEntries(Array.from({ length: DELETED }, (_, n) => [`p${n}`, null]));
      scene.write({ ...gone, [LAST]: idleManifest(LAST, 'changed') }, 'Too much');
      const { waitingPlan } = await scene.untilStatus(
        'the plan to wait',
        (status) => status.waitingPlan !== null,
      );
      expect(waitingPlan?.guards.filter(({ exceeded }) => exceeded).map(({ guard }) => guard)).to.deep.equal([
        'maxDeletes',
      ]);
      expect(await scene.count('p.tombstoned_at IS NOT NULL')).to.equal(0);
      expect(await scene.count(`p.name = '${LAST}' AND v.version = 1`)).to.equal(1);
      await (await scene.api()).mutate('gitSync.approvePlan', { environmentId, hash: waitingPlan?.hash });
      await scene.untilSome('p.tombstoned_at IS NOT NULL', DELETED);
      await scene.killAndStart();
      await scene.untilStatus(
        'all of it to be done',
        ({ manifests, ...status }) => status.waitingPlan === null && manifests.length === MANY - DELETED + 1,
      );
      expect(await scene.count('p.tombstoned_at IS NOT NULL')).to.equal(DELETED);
      expect(await scene.count(`p.name = '${LAST}' AND v.version = 2`)).to.equal(1);
      expect(await scene.count("p.name LIKE 'p%' AND p.tombstoned_at IS NULL")).to.equal(MANY - DELETED);
      await scene.expectCleanHistory();
      // The word was for that plan: the next one over the guard waits again.
      const next = Array.from({ length: DELETED }, (_, n) => [`p${DELETED + n}`, null] as const);
      scene.write(Object.fromEntries(next), 'Too much again');
      const again = await scene.untilStatus('the plan to wait', (status) => status.waitingPlan !== null);
      expect(again.waitingPlan?.hash).not.to.equal(waitingPlan?.hash);
      expect(await scene.count('p.tombstoned_at IS NOT NULL')).to.equal(DELETED);
    });
  });

  describe('Postgres', () => {
    /** Of two transactions. */
    const SOME = 400;
    let scene: Scene;
    before(async () => {
      scene = await Scene.open({ inProcess: true, embedded: true });
      await scene.untilApplied(scene.write(many('', SOME)));
    });
    after(() => scene?.site.remove());

    const postmaster = () =>
      Number(readFileSync(join(scene.site.dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);

    // SIGINT is how it is stopped in a hurry, as for a restart; SIGKILL is a crash.
    for (const [round, signal] of (['SIGINT', 'SIGKILL'] as const).entries()) {
      const what = signal === 'SIGINT' ? 'is restarted' : 'is killed';
      it(`${what}: it is back by itself, and so is the pass, which does nothing twice`, async () => {
        const before = postmaster();
        const sha = scene.write(many(`round ${round}`, SOME), `Round ${round}`);
        await scene.untilSome(`p.name LIKE 'p%' AND v.version = ${round + 2}`, SOME);
        process.kill(before, signal);
        await scene.untilApplied(sha);
        expect(postmaster()).not.to.equal(before);
        expect(
          await scene.count(`p.name LIKE 'p%' AND v.version = ${round + 2} AND p.deployed_version_id = v.id`),
        ).to.equal(SOME);
        await scene.expectCleanHistory();
        expect(unexplainedLines(scene.controller.output())).to.deep.equal([]);
      });
    }
  });
});
