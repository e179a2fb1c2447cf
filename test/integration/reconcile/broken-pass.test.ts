/** What people read of a pass that threw. */
import { expect } from 'chai';
import { findBinding } from '../../../controller/delivery/bindings/index.ts';
import { saveBinding } from '../../../controller/delivery/bindings/store.ts';
import { insertEnvironment } from '../../../controller/fleet/environments/store.ts';
import { insertTeam } from '../../../controller/identity/teams/store.ts';
import { useController } from '../../support/harness/controller.ts';
import { until } from '../../support/harness/until.ts';

describe('a pass over git that throws', () => {
  const test = useController();

  it('says so in the status of its binding, and takes it back once one went well', async () => {
    const { db } = test;
    const teamId = await insertTeam(db, 'team');
    const environmentId = await insertEnvironment(db, { name: 'staging', teamId });
    await saveBinding(db, {
      ...{
        environmentId,
        mode: 'sync',
        repositoryUrl: 'embedded',
        ref: 'main',
        path: 'environments/staging',
      },
      ...{ sharedPaths: [], intervalSeconds: 60 },
    });
    const { bus } = test.controller.systemContext('test').services;
    const wake = () => bus.publish(db, { type: 'wake', loop: 'git', key: environmentId, trigger: 'test' });
    const lastError = async () => (await findBinding(db, environmentId))?.lastError ?? null;

    await db.raw('ALTER TABLE git_jobs RENAME TO git_jobs_away');
    await wake();
    const isBroken = async () => (await lastError())?.includes('broke off') === true;
    await until(isBroken, { what: 'the failure to be recorded' });
    expect(await lastError()).to.equal(
      'the last pass broke off: relation "git_jobs" does not exist. It is tried again by itself, and everything runs on as it was',
    );
    expect(test.log()).to.include('git pass failed');

    await db.raw('ALTER TABLE git_jobs_away RENAME TO git_jobs');
    await wake();
    await until(async () => !(await isBroken()), { what: 'the next pass' });
  });
});
