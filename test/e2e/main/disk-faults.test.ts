/** The disk of the data directory runs full: it is told, what runs runs on, nothing is lost, and then all goes on. */
import { expect } from 'chai';
import { unexplainedLines } from '../../support/fixtures/unexplained.ts';
import { type SmallDisk, smallDisk } from '../../support/harness/small-disk.ts';
import { until } from '../../support/harness/until.ts';
import { type RunningSite, startRunningSite } from '../../support/scenes/running-site.ts';

/** An empty embedded cluster takes some 100 MB. */
const WITH_POSTGRES_MB = 200;
const WITHOUT_MB = 16;

for (const { what, embedded, megabytes } of [
  { what: 'repository and database', embedded: true, megabytes: WITH_POSTGRES_MB },
  { what: 'the repository alone, the database being elsewhere', embedded: false, megabytes: WITHOUT_MB },
]) {
  describe(`when the disk of ${what} runs full`, function () {
    this.timeout(90_000);
    this.slow(40_000);
    let disk: SmallDisk | null = null;
    let site: RunningSite;
    let was: { engines: string[]; events: number; head: string };
    let sha: string;

    before(async function () {
      disk = smallDisk(megabytes);
      if (!disk) return this.skip(); // only root can make a small disk
      site = await startRunningSite({ inProcess: true, embedded, dataDir: disk.folder });
      was = {
        engines: site.engines(),
        events: await site.events(),
        head: (await site.status()).appliedCommit?.sha ?? '',
      };
      sha = await site.commitChange('on a full disk');
      disk.fill();
    });
    after(async () => {
      disk?.empty();
      await site?.remove();
      disk?.remove();
    });

    if (embedded) {
      it('answers 503 to who asks for its health, and names the disk', async () => {
        await until(async () => (await site.health()).status === 503, {
          what: () => `health to tell:\n${site.controller.output()}`,
          timeoutMs: 15_000,
          everyMs: 50,
        });
        expect((await site.health()).body).to.deep.equal({
          status: 'error',
          reason: 'disk',
          message: 'The disk of the database is full: free some space there',
        });
        expect(site.controller.output()).to.contain(`the disk of ${disk?.folder} is full`);
      });
    } else {
      it('is well otherwise: agents are served, and so are pages', async () => {
        expect((await site.health()).status).to.equal(200);
        await until(async () => (await site.events()) > was.events, { what: 'events', timeoutMs: 10_000 });
      });
    }

    it('refuses a push, and says that there is no space', async () => {
      const { code, stderr } = await site.push();
      expect(code, stderr).not.to.equal(0);
      expect(stderr).to.match(/No space left on device|The disk of the database is full/);
      expect(stderr, 'as if it had been taken').not.to.contain('nothing to do');
      expect(site.engines()).to.deep.equal(was.engines);
    });

    it('takes the same push once there is space, and has lost nothing', async () => {
      disk?.empty();
      await until(async () => (await site.health()).status === 200, {
        what: () => `health to be well:\n${site.controller.output()}`,
        timeoutMs: 30_000,
        everyMs: 50,
      });
      expect(await site.status()).to.deep.include({ lastError: null, importErrorCount: 0 });
      expect((await site.status()).appliedCommit?.sha).to.equal(was.head);
      expect(site.engines()).to.deep.equal(was.engines);
      const { code, stderr } = await site.push();
      expect(code, stderr).to.equal(0);
      await site.untilApplied(sha);
      await site.untilLeftRuns();
      expect(site.rightEngines()).to.deep.equal([was.engines[1]]);
      await until(async () => (await site.events()) > was.events, { what: 'events', timeoutMs: 10_000 });
      expect(unexplainedLines(site.controller.output())).to.deep.equal([]);
    });
  });
}
