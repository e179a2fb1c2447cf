/** Which endpoint wants which notices, and which of them become one message. */
import type { AlertNotice } from '../notice.ts';

/** An endpoint of a team wants the metrics of its list, one of an environment all that happens there, or of its list. */
export interface Subscriber {
  id: string;
  teamId: string | null;
  environmentId: string | null;
  eventTypes: readonly string[];
}

/** What several endpoints are sent alike. */
export interface NoticeGroup {
  /** Ascending. */
  endpointIds: readonly string[];
  ruleId: string;
  status: AlertNotice['status'];
  notices: AlertNotice[];
}

const wants = ({ teamId, environmentId, eventTypes }: Subscriber, notice: AlertNotice): boolean =>
  environmentId === null
    ? teamId === notice.team.id && eventTypes.includes(notice.metric)
    : environmentId === notice.environment.id &&
      (eventTypes.length === 0 || eventTypes.includes(notice.metric));

export function groupNotices(
  notices: readonly AlertNotice[],
  subscribers: readonly Subscriber[],
): NoticeGroup[] {
  const groups = new Map<string, NoticeGroup>();
  for (const notice of notices) {
    const { environment, team, metric, ruleId, status } = notice;
    // By all that an endpoint goes by.
    const key = [environment.id, team.id, metric, ruleId, status].join(' ');
    const group = groups.get(key);
    if (group) {
      group.notices.push(notice);
      continue;
    }
    const endpointIds = subscribers
      .filter((subscriber) => wants(subscriber, notice))
      .map(({ id }) => id)
      .sort();
    groups.set(key, { endpointIds, ruleId, status, notices: [notice] });
  }
  return [...groups.values()].filter(({ endpointIds }) => endpointIds.length > 0);
}

/** Consecutive notices in which each event occurs once, so that groups of one run may be queued in any order. */
export function runsOf(notices: readonly AlertNotice[]): AlertNotice[][] {
  const runs: AlertNotice[][] = [];
  let seen = new Set<string>();
  let run: AlertNotice[] = [];
  for (const notice of notices) {
    if (seen.has(notice.eventId)) {
      runs.push(run);
      seen = new Set();
      run = [];
    }
    seen.add(notice.eventId);
    run.push(notice);
  }
  if (run.length > 0) runs.push(run);
  return runs;
}
