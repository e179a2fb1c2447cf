/** The audit log as a source of streams: in the order of its numbers, which have no gaps. */
import type { AuditEvent } from '../../../schemas/api/insight/audit.ts';
import { readChain, readHead } from '../audit/index.ts';
import type { Source, SourceEntry } from './source.ts';

export const auditSource: Source = {
  type: 'audit.entries',
  scope: 'headgate.audit',
  isGapless: true,
  readHead: async (db) => (await readHead(db)).seq,
  async read(db, after, limit, through) {
    const events = (await readChain(db, after, limit)).map(({ event }) => event);
    return events.filter(({ seq }) => through === null || seq <= through).map(entryOf);
  },
};

const jsonOf = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

function entryOf(event: AuditEvent): SourceEntry {
  const { seq, action, entityType, entityId, userEmail, actorType } = event;
  return {
    position: seq,
    at: new Date(event.createdAt),
    json: event,
    eventName: action,
    text: `${userEmail ?? actorType}: ${action} ${entityType}${entityId === null ? '' : ` ${entityId}`}`,
    attributes: {
      'audit.id': event.id,
      'audit.seq': seq,
      'audit.action': action,
      'audit.actor_type': actorType,
      'audit.entity_type': entityType,
      'audit.entity_id': entityId,
      'audit.diff': jsonOf(event.diff),
      'audit.metadata': jsonOf(event.metadata),
      'audit.team_id': event.teamId,
      'audit.environment_id': event.environmentId,
      'audit.commit_sha': event.commitSha,
      'audit.prev_hash': event.prevHash,
      'audit.hash': event.hash,
      'user.id': event.userId,
      'user.email': userEmail,
      'client.address': event.ipAddress,
    },
  };
}
