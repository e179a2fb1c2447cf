/** What people ask of the audit log: each with other values at every call. */
import type { ListAudit } from '../../schemas/api/insight/audit.ts';
import {
  ALL_ACTIONS,
  DAY,
  ENVIRONMENTS,
  environmentId,
  OF_MEMBER,
  PEOPLE,
  personId,
  RARE,
  TEAMS,
  teamId,
} from './audit-log.ts';

export type Viewer = 'admin' | 'member';
export interface AuditLook {
  what: string;
  input(viewer: Viewer, events: number): ListAudit;
  /** What every page has to hold, where that is certain. */
  finds?: 'a full page' | 'nothing';
  /** Goes on with the cursor of the page before. */
  walks?: boolean;
}

const below = (count: number): number => Math.floor(Math.random() * count);
const one = <T>(of: readonly T[]): T => of[below(of.length)]!;
const teamOf = (viewer: Viewer): number => (viewer === 'admin' ? below(TEAMS) : one(OF_MEMBER));

const team = (viewer: Viewer) => ({ teamId: teamId(teamOf(viewer)) });
const environment = (viewer: Viewer) => ({
  environmentId: environmentId(teamOf(viewer) + TEAMS * below(ENVIRONMENTS / TEAMS)),
});
const person = (viewer: Viewer) => ({
  userId: personId(teamOf(viewer) + TEAMS * below(PEOPLE / TEAMS)),
});
const action = () => ({ action: one(ALL_ACTIONS) });
/** That nobody did in a team. */
const elsewhere = { action: 'user.signedIn' };
const scim = { entityType: 'SCIM' };
const thirtyDays = () => {
  const last = DAY.any();
  return { startDate: DAY.ago(last + 29), endDate: DAY.ago(last) };
};
const nowhere = () => ({ search: `nowhere-${below(1_000_000)}` });

export const LOOKS: readonly AuditLook[] = [
  { what: 'the newest', input: () => ({}), finds: 'a full page' },
  { what: 'the page after', input: () => ({}), finds: 'a full page', walks: true },
  {
    what: 'from anywhere on',
    input: (_, events) => ({ cursor: String(Math.round(events * (0.1 + 0.9 * Math.random()))) }),
    finds: 'a full page',
  },
  { what: '200 on a page', input: () => ({ limit: 200 }), finds: 'a full page' },
  { what: 'an action', input: action },
  { what: 'an action of one event in 500,000', input: () => ({ action: RARE }) },
  { what: 'a person', input: person },
  { what: 'a kind of thing', input: () => ({ entityType: one(['Pipeline', 'Secret', 'Node', 'Team']) }) },
  { what: 'SCIM (All)', input: () => scim },
  { what: 'what git did', input: () => ({ actorType: 'git' }), finds: 'a full page' },
  { what: 'a team', input: team, finds: 'a full page' },
  { what: 'an environment', input: environment, finds: 'a full page' },
  {
    what: 'a day',
    input: () => {
      const day = DAY.ago(DAY.any());
      return { startDate: day, endDate: day };
    },
  },
  { what: 'an action in 30 days', input: () => ({ ...thirtyDays(), ...action() }) },
  { what: 'a person in 30 days', input: (viewer) => ({ ...thirtyDays(), ...person(viewer) }) },
  { what: 'an environment in 30 days', input: (viewer) => ({ ...thirtyDays(), ...environment(viewer) }) },
  { what: 'an action of a person', input: (viewer) => ({ ...person(viewer), ...action() }) },
  {
    what: 'an action that the person never did',
    input: (viewer) => ({ ...person(viewer), action: 'scimUser.created' }),
    finds: 'nothing',
  },
  {
    what: 'an action that the team never saw',
    input: (viewer) => ({ ...team(viewer), ...elsewhere }),
    finds: 'nothing',
  },
  {
    what: 'an action that the environment never saw',
    input: (viewer) => ({ ...environment(viewer), ...elsewhere }),
    finds: 'nothing',
  },
  { what: 'a text of every event', input: () => ({ search: 'DEBUG lines' }), finds: 'a full page' },
  { what: 'a text of one event in 800', input: () => ({ search: `ORDERS-${100 + below(800)}` }) },
  { what: 'a text that is nowhere', input: nowhere, finds: 'nothing' },
  { what: '… the page after', input: nowhere, finds: 'nothing', walks: true },
  { what: '… in 30 days', input: () => ({ ...nowhere(), ...thirtyDays() }), finds: 'nothing' },
  { what: '… in a team', input: (viewer) => ({ ...nowhere(), ...team(viewer) }), finds: 'nothing' },
  { what: '… by a person', input: (viewer) => ({ ...nowhere(), ...person(viewer) }), finds: 'nothing' },
  { what: '… in SCIM (All)', input: () => ({ ...nowhere(), ...scim }), finds: 'nothing' },
];
