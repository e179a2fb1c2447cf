/** An entry of the audit log in words. Actions are named `noun.whatWasDone`. */
import type { RecentAuditEntry } from '../../../../schemas/api/insight/dashboard.ts';
import { paths } from '../../app/paths.ts';
import { shortCommit } from '../../ui/text/format.ts';

/** What an entry has to tell for it. */
export type EventFields = Pick<
  RecentAuditEntry,
  'actorType' | 'userEmail' | 'action' | 'entityType' | 'entityId' | 'environmentId' | 'commitSha'
> & {
  /** What it is called, where the entry says so. */
  entityName: string | null;
};

const ABBREVIATIONS: Readonly<Record<string, string>> = {
  scim: 'SCIM',
  oidc: 'OIDC',
  vrl: 'VRL',
  totp: 'TOTP',
};

/** `alertRule` → `alert rule`, `ScimUser` → `SCIM user`. */
export const spaced = (name: string): string =>
  name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim()
    .split(' ')
    .map((word) => ABBREVIATIONS[word] ?? word)
    .join(' ');

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** `Alert rule deleted`: the action by itself. */
export const actionText = (action: string): string =>
  capital(action.split('.').map(spaced).filter(Boolean).join(' '));

/** `Alert rule Busy CPU deleted`; `User token created: laptop` where the name is not that of the noun. */
export function whatWasDone({
  action,
  entityType,
  entityName,
}: Pick<EventFields, 'action' | 'entityType' | 'entityName'>): string {
  if (entityName === null) return actionText(action);
  const [noun = '', done = ''] = action.split('.');
  if (noun.toLowerCase() !== entityType.toLowerCase()) return `${actionText(action)}: ${entityName}`;
  return capital([spaced(noun), entityName, spaced(done)].filter(Boolean).join(' '));
}

export const ACTORS: Record<EventFields['actorType'], string> = {
  user: 'a user',
  service_account: 'a service account',
  git: 'git',
  scim: 'SCIM',
  system: 'Headgate',
};

/** A failed sign-in has no user. */
export const actorWord = ({ actorType, action }: Pick<EventFields, 'actorType' | 'action'>): string =>
  action === 'user.signInFailed' ? 'somebody not signed in' : ACTORS[actorType];

/** A person by the address, git with its commit. */
export function whoDidIt({
  actorType,
  action,
  userEmail,
  commitSha,
}: Pick<EventFields, 'actorType' | 'action' | 'userEmail' | 'commitSha'>): string {
  const who = userEmail ?? actorWord({ actorType, action });
  return commitSha ? `${who} at ${shortCommit(commitSha)}` : who;
}

/** What was deleted is not there to be led to. */
const isGone = (action: string): boolean => /deleted$|pruned$/i.test(action);

/** Where the subject is; null where it has no page, or is gone. */
export function subjectHref({
  action,
  entityType,
  entityId,
  environmentId: env,
}: EventFields): string | null {
  if (!env) return null;
  const gone = isGone(action);
  if (entityType === 'Pipeline' && entityId && !gone) return paths.pipeline(env, entityId);
  if (entityType === 'Node' && entityId && !gone) return paths.node(env, entityId);
  if (entityType === 'NodeGroup') return gone || !entityId ? paths.groups(env) : paths.group(env, entityId);
  if (entityType === 'AlertRule') return paths.alerts(env, { tab: 'rules' });
  if (entityType === 'Silence') return paths.alerts(env, { tab: 'silences' });
  if (entityType === 'AlertEvent' && entityId) return paths.alerts(env, { event: entityId });
  if (entityType === 'AlertWebhook' || entityType === 'WebhookEndpoint')
    return paths.alerts(env, { tab: 'endpoints' });
  if (entityType === 'Secret') return paths.secrets(env);
  if (entityType === 'Certificate') return paths.secrets(env, { tab: 'certificates' });
  if (entityType === 'SharedComponent') return paths.library(env, { tab: 'shared' });
  if (entityType === 'GitHold') return paths.git(env, { tab: 'holds' });
  if (entityType === 'GitJob') return paths.git(env, { tab: 'passes' });
  if (entityType === 'GitBinding') return paths.git(env);
  if (entityType === 'Promotion') return paths.promotions(env, { tab: 'requests' });
  if (entityType === 'PullRequest') return paths.promotions(env);
  if (entityType === 'Environment') return gone ? null : paths.settings(env, { tab: 'environment' });
  if (entityType === 'EnrollmentToken' || entityType === 'ServiceAccount')
    return paths.settings(env, { tab: 'access' });
  return null;
}
