import { expect } from 'chai';
import type { RecentAuditEntry } from '../../../schemas/api/insight/dashboard.ts';
import {
  actionText,
  subjectHref,
  whatWasDone,
  whoDidIt,
} from '../../../web/src/features/audit/event-text.ts';

const entry = (more: Partial<RecentAuditEntry>): RecentAuditEntry => ({
  id: 'a',
  actorType: 'user',
  userId: 'u',
  userEmail: 'maya@example.org',
  action: 'secret.created',
  entityType: 'Secret',
  entityId: 's',
  entityName: 'db-password',
  teamId: 't',
  environmentId: 'e',
  commitSha: null,
  createdAt: new Date(0),
  ...more,
});

describe('an entry of the audit log in words', () => {
  it('says what was done to what', () => {
    expect(whatWasDone(entry({}))).to.equal('Secret db-password created');
    expect(
      whatWasDone(entry({ action: 'alertRule.deleted', entityType: 'AlertRule', entityName: 'Busy CPU' })),
    ).to.equal('Alert rule Busy CPU deleted');
    expect(whatWasDone(entry({ action: 'environment.enrollmentTokenGenerated', entityName: null }))).to.equal(
      'Environment enrollment token generated',
    );
  });

  it('says a name at the end where it is not that of the noun', () => {
    const token = { action: 'user.tokenCreated', entityType: 'PersonalToken', entityName: 'laptop' };
    expect(whatWasDone(entry(token))).to.equal('User token created: laptop');
    const member = { action: 'team.memberRoleChanged', entityType: 'TeamMember', entityName: 'Ada' };
    expect(whatWasDone(entry(member))).to.equal('Team member role changed: Ada');
  });

  it('knows abbreviations', () => {
    const user = { action: 'scimUser.created', entityType: 'ScimUser', entityName: 'Ada' };
    expect(whatWasDone(entry(user))).to.equal('SCIM user Ada created');
    expect(whatWasDone(entry({ action: 'settings.oidcUpdated', entityName: null }))).to.equal(
      'Settings OIDC updated',
    );
    expect(actionText('vrlSnippet.deleted')).to.equal('VRL snippet deleted');
  });

  it('says who did it, and git with its commit', () => {
    expect(whoDidIt(entry({}))).to.equal('maya@example.org');
    expect(whoDidIt(entry({ actorType: 'git', userEmail: null, commitSha: 'ab'.repeat(20) }))).to.equal(
      'git at abababa',
    );
  });

  it('leads to what is there, and not to what was deleted', () => {
    expect(subjectHref(entry({}))).to.equal('/e/e/secrets');
    const pipeline = { entityType: 'Pipeline', entityId: 'p' };
    expect(subjectHref(entry({ ...pipeline, action: 'pipeline.deployed' }))).to.equal('/e/e/pipelines/p');
    expect(subjectHref(entry({ ...pipeline, action: 'pipeline.deleted' }))).to.equal(null);
    expect(subjectHref(entry({ environmentId: null }))).to.equal(null);
    const alert = { entityType: 'AlertEvent', entityId: 'x', action: 'alertEvent.acknowledged' };
    expect(subjectHref(entry(alert))).to.equal('/e/e/alerts?event=x');
    const silence = { entityType: 'Silence', action: 'silence.ended' };
    expect(subjectHref(entry(silence))).to.equal('/e/e/alerts?tab=silences');
  });
});
