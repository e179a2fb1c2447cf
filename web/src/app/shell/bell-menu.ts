/** What the bell counts and lists. Pure. */
import type { OpenAlertEvents } from '../../../../schemas/api/insight/alerts.ts';
import { plural } from '../../ui/text/format.ts';

type OpenEvent = OpenAlertEvents['events'][number];

const LISTED = 8;
const MOST = 99;

export interface BellMenu {
  /** Inside the badge; empty where nothing fires. */
  count: string;
  /** Read out with the button. */
  label: string;
  groups: { environmentId: string; environmentName: string; teamName: string; events: OpenEvent[] }[];
  /** Those that fire and are not listed. */
  rest: number;
}

/** `data` undefined: not known yet. */
export function bellMenu(data: OpenAlertEvents | undefined): BellMenu {
  if (!data) return { count: '', label: 'Alerts', groups: [], rest: 0 };
  const { firing, events } = data;
  const listed = events
    .filter(({ status, mutedBy }) => status === 'firing' && mutedBy === null)
    .slice(0, LISTED);
  const groups = [...Map.groupBy(listed, ({ environmentId }) => environmentId)].flatMap(
    ([environmentId, of]) => {
      const [first] = of;
      if (!first) return [];
      const { environmentName, teamName } = first;
      return [{ environmentId, environmentName, teamName, events: of }];
    },
  );
  return {
    count: firing === 0 ? '' : firing > MOST ? `${MOST}+` : String(firing),
    label: firing === 0 ? 'Alerts: nothing is firing' : `Alerts: ${plural(firing, 'alert')} firing`,
    groups,
    rest: Math.max(0, firing - listed.length),
  };
}
