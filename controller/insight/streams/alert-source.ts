/** What happens to alert events as a source of streams: that they fire, are muted, acknowledged and resolved. */
import { type FollowedChange, newestChange, readChanges } from '../alerts/index.ts';
import type { Source, SourceEntry } from './source.ts';

export const alertSource: Source = {
  type: 'alerts.changes',
  scope: 'headgate.alerts',
  // Numbers of transactions that were rolled back are never used, and events take their changes along when they are deleted.
  isGapless: false,
  readHead: newestChange,
  read: async (db, after, limit, through) => (await readChanges(db, after, limit, through)).map(entryOf),
};

const VERBS: Readonly<Record<FollowedChange['kind'], string>> = {
  fired: 'fires',
  fired_again: 'fires again',
  acknowledged: 'is acknowledged',
  muted: 'is muted',
  unmuted: 'is muted no more',
  resolved: 'is resolved',
};

function entryOf({ position, event, ...change }: FollowedChange): SourceEntry {
  const { id, at, kind, value, note, userEmail } = change;
  return {
    position,
    at,
    json: { id, at, kind, value, note, userEmail, event },
    eventName: `alert.${kind}`,
    text: `${event.ruleName} ${VERBS[kind]}: ${event.message}`,
    attributes: {
      'alert.event_id': event.id,
      'alert.change': kind,
      'alert.status': event.status,
      'alert.rule_id': event.ruleId,
      'alert.rule': event.ruleName,
      'alert.metric': event.metric,
      'alert.condition': event.condition,
      'alert.threshold': String(event.threshold),
      'alert.value': value === null ? null : String(value),
      'alert.note': note,
      'alert.environment_id': event.environmentId,
      'alert.environment': event.environmentName,
      'alert.team_id': event.teamId,
      'alert.team': event.teamName,
      'alert.node_id': event.nodeId,
      'alert.node': event.nodeName,
      'alert.pipeline_id': event.pipelineId,
      'alert.pipeline': event.pipelineName,
      'user.email': userEmail,
    },
  };
}
