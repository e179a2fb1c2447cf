/** Leadership: one at a time, and a leader that was paused cannot write any more. */
import { expect } from 'chai';
import { DomainError } from '../../../controller/platform/operation/errors.ts';
import { createLease, type Lease } from '../../../controller/platform/runtime/lease.ts';
import { patient } from '../../support/harness/patience.ts';
import { QUIET, usePlatform } from '../../support/harness/platform.ts';
import { until } from '../../support/harness/until.ts';

const TTL_MS = patient(250);

describe('the lease', () => {
  const platform = usePlatform();
  let keys = 0;
  let key: string;
  const leases: Lease[] = [];

  /** One that is `paused` takes the lease and never renews it, like a process that hangs. */
  const lease = (paused = false, ttlMs = TTL_MS): Lease => {
    const made = createLease({
      db: platform.db,
      key,
      log: QUIET,
      ttlMs,
      renewMs: paused ? 60_000 : 20,
    });
    leases.push(made);
    return made;
  };
  const fence = (of: Lease, epoch: number) => platform.db.transaction((tx) => of.fence(tx, epoch));
  const refused = async (of: Lease, epoch: number) => {
    const error = await fence(of, epoch).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(DomainError);
    expect((error as DomainError).code).to.equal('UNAVAILABLE');
  };

  beforeEach(() => {
    key = `key-${++keys}`;
  });
  afterEach(async () => {
    for (const one of leases.splice(0)) await one.stop();
  });

  it('is taken where the clock was set back by an hour after its holder had died', async () => {
    const dead = lease(true, 1_000);
    await dead.start();
    // As if it had been written before the clock was set back.
    await platform
      .db('leases')
      .where({ key })
      .update({ expires_at: platform.db.raw("expires_at + interval '1 hour'") });
    const next = lease();
    await next.start();
    expect(next.epoch()).to.equal(2);
    await refused(dead, 1);
    await fence(next, 2);
  });

  it('is held by the first, and by nobody else while he renews it', async () => {
    const termMs = patient(1_000);
    const [first, second] = [lease(false, termMs), lease()];
    await first.start();
    await second.start();
    expect(first.epoch()).to.equal(1);
    const since = Date.now();
    await until(() => Date.now() - since > 1.2 * termMs, { what: 'more than a term to pass' });
    expect(first.epoch()).to.equal(1);
    expect(second.epoch()).to.equal(null);
    await fence(first, 1);
    await refused(second, 1);
  });

  it('goes to the second when the first hangs, with a greater epoch; the first’s late writes are refused', async () => {
    const [first, second] = [lease(true), lease()];
    await first.start();
    await second.start();
    await until(() => second.epoch() !== null, { what: 'the second to take over' });
    expect(second.epoch()).to.equal(2);
    expect(first.epoch(), 'the first knows by itself').to.equal(null);
    await refused(first, 1);
    await fence(second, 2);
  });

  it('refuses an epoch that has passed, also to him who holds it now', async () => {
    const [first, second] = [lease(true), lease()];
    await first.start();
    await second.start();
    await until(() => second.epoch() !== null, { what: 'the second to take over' });
    await refused(second, 1);
  });

  it('refuses the first once his time is over, though nobody has taken over', async () => {
    const first = lease(true);
    await first.start();
    await fence(first, 1);
    // It gives itself up a moment before Postgres does.
    await until(
      () =>
        fence(first, 1).then(
          () => false,
          () => true,
        ),
      { what: 'the term to end' },
    );
    expect(first.epoch()).to.equal(null);
    await refused(first, 1);
  });

  it('does not change hands while a fenced transaction is open', async () => {
    const [first, second] = [lease(true), lease()];
    await first.start();
    await second.start();
    await platform.db.transaction(async (tx) => {
      await first.fence(tx, 1);
      await until(() => first.epoch() === null, { what: 'the term to end' });
      const since = Date.now();
      await until(() => Date.now() - since > TTL_MS, { what: 'time for the second to try' });
      expect(second.epoch()).to.equal(null);
    });
    await until(() => second.epoch() === 2, { what: 'the second to take over' });
  });

  it('stays with the first while a fenced transaction of its own takes longer than a term, also where another waits for it', async () => {
    const [first, second] = [lease(), lease()];
    const told: boolean[] = [];
    first.onChange((leading) => told.push(leading));
    await first.start();
    await second.start();
    await platform.db.transaction(async (tx) => {
      await first.fence(tx, 1);
      const since = Date.now();
      await until(() => Date.now() - since > 3 * TTL_MS || first.epoch() === null, { what: 'three terms' });
      expect([first.epoch(), second.epoch()]).to.deep.equal([1, null]);
      await fence(first, 1);
    });
    expect(told).to.deep.equal([true]);
  });

  it('goes to the second though the first hangs in a fenced transaction, which is lost', async function () {
    this.timeout(15_000);
    this.slow(12_000);
    const [first, second] = [lease(true), lease()];
    await first.start();
    await second.start();
    let tookOver = false;
    const hung = platform.db.transaction(async (tx) => {
      await first.fence(tx, 1);
      await until(() => second.epoch() === 2, { what: 'the second to take over', timeoutMs: 10_000 });
      tookOver = true;
      await tx.raw('SELECT 1');
    });
    const error = await hung.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(tookOver).to.equal(true);
    expect(error).to.be.instanceOf(Error);
  });

  it('goes to the next at once after an orderly stop, again with a greater epoch', async () => {
    const [first, second] = [lease(false, 60_000), lease()];
    await first.start();
    await second.start();
    await first.stop();
    expect(first.epoch()).to.equal(null);
    await until(() => second.epoch() !== null, { what: 'the second to take over' });
    expect(second.epoch()).to.equal(2);
    await refused(first, 1);
  });

  it('tells each change once', async () => {
    const [first, second] = [lease(true), lease()];
    const told: string[] = [];
    first.onChange((leading) => told.push(`first ${leading}`));
    second.onChange((leading) => told.push(`second ${leading}`));
    await first.start();
    await second.start();
    await until(() => second.epoch() !== null, { what: 'the second to take over' });
    await second.stop();
    await first.stop();
    expect(told).to.deep.equal(['first true', 'second true', 'second false', 'first false']);
  });

  it('tells the holder again whose term ran out while the database hung, though nobody else took it', async () => {
    const only = lease();
    const told: boolean[] = [];
    only.onChange((leading) => told.push(leading));
    await only.start();
    await platform.db.transaction(async (tx) => {
      // His next claims wait for the row.
      await tx.raw('SELECT 1 FROM leases WHERE key = ? FOR UPDATE', [key]);
      await until(() => only.epoch() === null, { what: 'the term to end' });
    });
    let renewed: number | null = null;
    await until(
      () => {
        renewed = only.epoch();
        return renewed !== null;
      },
      { what: 'the lease to be renewed' },
    );
    expect(renewed).to.equal(1);
    expect(told.length).to.be.at.least(2);
    expect(new Set(told)).to.deep.equal(new Set([true]));
  });

  it('is one a key', async () => {
    const first = lease();
    await first.start();
    key = `key-${++keys}`;
    const other = lease();
    await other.start();
    expect([first.epoch(), other.epoch()]).to.deep.equal([1, 1]);
  });
});
