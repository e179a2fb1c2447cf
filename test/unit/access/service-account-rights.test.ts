/** What a service account may run: what its key was given, in its own environment, and nothing that no key is made for. */
import { expect } from 'chai';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import type { Needs, Scope } from '../../../controller/platform/operation/operation.ts';
import { allows } from '../../../controller/platform/operation/permissions.ts';
import { PERMISSIONS, type Permission } from '../../../schemas/api/identity/service-accounts.ts';
import { OPERATIONS } from '../../support/procedures/operations.ts';

const account = (...permissions: Permission[]): Actor => ({
  type: 'service_account',
  id: 'a1',
  name: 'ci',
  environmentId: 'env',
  teamId: 'team',
  permissions: new Set(permissions),
});
const HERE: Scope = { teamId: 'team', environmentId: 'env' };

/** Every operation that a key may run, and the permission that it takes. */
const OPEN: Record<string, Permission> = {
  'pipeline.list': 'pipelines.read',
  'pipeline.get': 'pipelines.read',
  'pipeline.versions': 'pipelines.read',
  'fleet.list': 'nodes.read',
  'fleet.get': 'nodes.read',
  'nodeGroup.list': 'nodes.read',
  'nodeGroup.groupHealthStats': 'nodes.read',
  'nodeGroup.nodesInGroup': 'nodes.read',
  'alert.listRules': 'alerts.read',
  'alert.createRule': 'alerts.manage',
  'alert.listEvents': 'alerts.read',
  'alert.getEvent': 'alerts.read',
  'alert.acknowledgeEvent': 'alerts.manage',
  'alert.listSilences': 'alerts.read',
  'alert.createSilence': 'alerts.manage',
  'alert.endSilence': 'alerts.manage',
  'alert.previewRule': 'alerts.read',
  'fleet.nodeLogs': 'nodes.read',
  'pipeline.logs': 'pipelines.read',
  'secret.list': 'secrets.read',
  'secret.create': 'secrets.manage',
  'secret.update': 'secrets.manage',
  'secret.delete': 'secrets.manage',
  'secret.register': 'secrets.manage',
  'secret.relocate': 'secrets.manage',
  'gitSync.status': 'gitops.read',
  'gitSync.jobs': 'gitops.read',
  'gitSync.importErrors': 'gitops.read',
  'gitSync.syncNow': 'gitops.manage',
  'gitSync.plan': 'gitops.read',
  'gitSync.drift': 'gitops.read',
  'gitSync.holds': 'gitops.read',
  'pullRequest.list': 'gitops.read',
  'pullRequest.get': 'gitops.read',
  'pullRequest.diff': 'gitops.read',
  'pullRequest.plan': 'gitops.read',
  'gitSync.export': 'gitops.read',
  'gitSync.suspend': 'gitops.manage',
  'gitSync.resume': 'gitops.manage',
  'gitSync.adopt': 'gitops.manage',
  'gitSync.hold': 'gitops.manage',
  'gitSync.releaseHold': 'gitops.manage',
  'gitSync.retryJob': 'gitops.manage',
  'gitSync.retryAllFailed': 'gitops.manage',
  'audit.after': 'audit.read',
  'fleet.setMaintenance': 'nodes.manage',
  'fleet.triggerAgentUpdate': 'nodes.manage',
  'fleet.cancelAgentUpdate': 'nodes.manage',
  'fleet.restartAgent': 'nodes.manage',
  'deploy.agent': 'pipelines.deploy',
  'deploy.undeploy': 'pipelines.deploy',
  'deploy.retryVersion': 'pipelines.deploy',
  'stagedRollout.create': 'pipelines.deploy',
  'stagedRollout.broaden': 'pipelines.deploy',
  'stagedRollout.rollback': 'pipelines.deploy',
  'stagedRollout.getActive': 'pipelines.read',
  'stagedRollout.list': 'pipelines.read',
  'pipeline.rollback': 'pipelines.deploy',
  'pipeline.create': 'pipelines.edit',
  'pipeline.update': 'pipelines.edit',
  'pipeline.delete': 'pipelines.edit',
  'pipeline.createVersion': 'pipelines.edit',
  'pipeline.getConfig': 'pipelines.edit',
  'pipeline.saveConfig': 'pipelines.edit',
  'pipeline.getVersion': 'pipelines.read',
  'pipeline.deployment': 'pipelines.read',
  'alert.getRule': 'alerts.read',
  'alert.updateRule': 'alerts.edit',
  'alert.deleteRule': 'alerts.edit',
  'pullRequest.review': 'pulls.review',
  'pullRequest.merge': 'pulls.merge',
};

describe('the rights of a service account', () => {
  for (const [name, operation] of OPERATIONS) {
    const permission = OPEN[name];
    it(permission ? `open ${name} to ${permission} alone` : `leave ${name} to users`, () => {
      const opening = PERMISSIONS.filter((one) => allows(account(one), HERE, operation));
      expect(opening).to.deep.equal(permission ? [permission] : []);
    });
  }

  it('are of operations that there are', () => {
    expect([...OPERATIONS.keys()]).to.include.members(Object.keys(OPEN));
  });

  const reads: Needs = { role: 'VIEWER', permission: 'pipelines.read' };
  const CASES: [reason: string, actor: Actor, scope: Scope, needs: Needs, allowed: boolean][] = [
    ['hold in its own environment', account('pipelines.read'), HERE, reads, true],
    [
      'end at another environment of its team',
      account('pipelines.read'),
      { teamId: 'team', environmentId: 'other' },
      reads,
      false,
    ],
    ['do not reach up to the team', account('pipelines.read'), { teamId: 'team' }, reads, false],
    [
      'do not reach what belongs to nobody',
      account('pipelines.read'),
      { teamId: null, environmentId: null },
      reads,
      false,
    ],
    [
      'do not follow from another permission, be it the greater',
      account('secrets.manage'),
      HERE,
      { role: 'VIEWER', permission: 'secrets.read' },
      false,
    ],
    [
      'do not ask for a role: an ADMIN’s operation takes its permission only',
      account('nodes.manage'),
      HERE,
      { role: 'ADMIN', permission: 'nodes.manage' },
      true,
    ],
    [
      'never are a super admin’s',
      account(...PERMISSIONS),
      HERE,
      { role: 'SUPER_ADMIN', permission: 'audit.read' },
      false,
    ],
    ['are none without a permission', account(), HERE, reads, false],
  ];
  for (const [reason, actor, scope, needs, allowed] of CASES) {
    it(reason, () => expect(allows(actor, scope, needs)).to.equal(allowed));
  }

  it('give users nothing: a permission does not open an operation to a lesser role', () => {
    const viewer: Actor = {
      type: 'user',
      userId: 'u1',
      email: 'ada@example.org',
      name: 'Ada',
      isSuperAdmin: false,
      roles: new Map([['team', 'VIEWER']]),
      sessionId: 's1',
      requiredAction: null,
    };
    expect(allows(viewer, HERE, { role: 'EDITOR', permission: 'secrets.manage' })).to.equal(false);
  });
});
