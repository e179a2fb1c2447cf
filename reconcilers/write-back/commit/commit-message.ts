/** What commits and proposals are called. */
import type { OwnedChange } from '../../../controller/delivery/bindings/index.ts';
import type { Actor } from '../../../controller/platform/operation/context.ts';
import type { OwnableKind } from '../../../schemas/api/delivery/git-policy.ts';
import type { CommitIdentity } from './commit.ts';

const NOUNS: Record<OwnableKind, string> = {
  Pipeline: 'pipeline',
  AlertRule: 'alert rule',
  NodeGroup: 'node group',
  Silence: 'silence',
  WebhookEndpoint: 'webhook endpoint',
};
const NAMED = 3;
const SUBJECT = 120;

/** One line: "Change threshold of the alert rule errors". Names, and no values. */
export function titleOf(
  { before, after, operation }: Pick<OwnedChange, 'before' | 'after' | 'operation'>,
  fields: readonly string[],
): string {
  const noun = NOUNS[before.kind];
  if (after === null) return short(`Delete the ${noun} ${before.name}`);
  if (operation === 'pipeline.rollback') return short(`Roll back the ${noun} ${before.name}`);
  if (after.name !== before.name) return short(`Rename the ${noun} ${before.name} to ${after.name}`);
  const names = [...new Set(fields.map(wordOf))];
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return short(`Change ${names.slice(0, NAMED).join(', ')}${more} of the ${noun} ${before.name}`);
}

/** `/spec/sinks/out/uri` is the uri of a component: `out.uri`. */
function wordOf(pointer: string): string {
  const parts = pointer.split('/').slice(2);
  return ['sources', 'transforms', 'sinks', 'components'].includes(parts[0] ?? '')
    ? parts.slice(1, 3).join('.')
    : (parts[0] ?? 'it');
}

const short = (text: string): string =>
  (text.length > SUBJECT ? `${text.slice(0, SUBJECT - 1)}…` : text).replace(/\s+/g, ' ');

export const messageOf = (title: string, operation: string): string =>
  `${title}\n\nHeadgate-Operation: ${operation}\n`;

/** In whose name a commit is. */
export function authorOf(actor: Actor, host: string): CommitIdentity {
  switch (actor.type) {
    case 'user':
      return { name: actor.name || actor.email, email: actor.email };
    case 'service_account':
      return { name: actor.name, email: `${actor.id}@service-accounts.${host}` };
    default:
      return headgate(host);
  }
}

export const headgate = (host: string): CommitIdentity => ({ name: 'Headgate', email: `headgate@${host}` });

/** The user in a list of changes; null for a service account, which has no row among the users. */
export const identityOf = (actor: Actor): { author: string; authorId: string | null } =>
  actor.type === 'user'
    ? { author: actor.name || actor.email, authorId: actor.userId }
    : { author: actor.type === 'service_account' ? actor.name : 'Headgate', authorId: null };
