/** An entry of the audit log in words. Actions are named `noun.whatWasDone`. */
import type { RecentAuditEntry } from '../../../../schemas/api/dashboard.ts';
import { paths } from '../../app/paths.ts';
import { shortCommit } from '../../components/format.ts';

/** `alertRule` → `alert rule`. */
const spaced = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** `Alert rule Busy CPU deleted`. */
export function whatWasDone({ action, entityName }: RecentAuditEntry): string {
  const [noun = '', done = ''] = action.split('.');
  const words = [spaced(noun), entityName, spaced(done)].filter(Boolean).join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const ACTORS: Record<RecentAuditEntry['actorType'], string> = {
  user: 'a user',
  service_account: 'a service account',
  git: 'git',
  scim: 'the directory',
  system: 'Headgate',
};

/** A person by the address, git with its commit. */
export function whoDidIt({ actorType, userEmail, commitSha }: RecentAuditEntry): string {
  const who = userEmail ?? ACTORS[actorType];
  return commitSha ? `${who} at ${shortCommit(commitSha)}` : who;
}

/** Where the subject is; null where it has no page, or is gone. */
export function subjectHref({
  action,
  entityType,
  entityId,
  environmentId: env,
}: RecentAuditEntry): string | null {
  if (!env) return null;
  const gone = /deleted$|pruned$/i.test(action);
  if (entityType === 'Pipeline' && entityId && !gone) return paths.pipeline(env, entityId);
  if (entityType === 'Node' && entityId && !gone) return paths.node(env, entityId);
  if (entityType === 'AlertRule') return paths.alerts(env);
  if (entityType === 'Secret') return paths.secrets(env);
  if (entityType === 'Certificate') return paths.secrets(env, { tab: 'certificates' });
  if (entityType === 'Environment') return gone ? null : paths.settings(env, { tab: 'environment' });
  if (entityType === 'EnrollmentToken' || entityType === 'ServiceAccount')
    return paths.settings(env, { tab: 'access' });
  return null;
}
