/**
 * The events that a mutation leaves: one for each thing that it changed, with who did it, to what and where, and of what
 * was there before.
 */
import { expect } from 'chai';
import type { TestDb } from '../harness/test-db.ts';
import type { Side } from '../scenes/two-teams.ts';
import { NOTHING, type TestUser } from '../users/person.ts';
import { OPERATIONS } from './operations.ts';
import type { Row } from './rows/row.ts';

export interface EventRow {
  id: string;
  actor_type: string;
  user_id: string | null;
  user_email: string | null;
  action: string;
  entity_type: string;
  entity_id: string | null;
  diff: Record<string, unknown> | null;
  ip_address: string | null;
  team_id: string | null;
  environment_id: string | null;
}

/** Mutations that change more than one thing: the actions of all their events, sorted. */
const SEVERAL: Record<string, readonly string[]> = {
  'ai.applySuggestions': ['ai.suggestionsApplied', 'pipeline.graphSaved'],
  'admin.createUser': ['team.memberAdded', 'user.created'],
  'costRecommendation.apply': ['costRecommendation.applied', 'pipeline.versionCreated'],
  // What is approved is deployed.
  'promotion.approve': ['pipeline.created', 'promotion.approved'],
  'sharedComponent.createFromNode': ['sharedComponent.created', 'sharedComponent.linked'],
};

/** What changes something that was there says what it was. */
const CHANGES = /\.(update|rename|set(?=[A-Z]|$)|toggle|configure|assign|accept)/;
/** But for these. */
const WITHOUT_DIFF: Record<string, string> = {
  'secret.update': 'its value is told to nobody',
  'userPreference.set': 'how somebody likes the pages is nobody’s business',
};

async function newVersions({ db, environmentId }: Side): Promise<object> {
  await db('shared_components').where({ environment_id: environmentId }).increment('version', 1);
  return {};
}

/** What the input has to be so that it differs from what is there. */
const OTHERWISE: Record<string, (side: Side) => Promise<object>> = {
  'fleet.setMaintenance': async ({ db, node }) => {
    await db('nodes').where({ id: node.nodeId }).update({ maintenance: false });
    return { enabled: true };
  },
  'ai.updateProvider': async ({ db }) => {
    await db('ai_providers').delete();
    return {};
  },
  'sharedComponent.acceptUpdate': newVersions,
  'sharedComponent.acceptUpdateBulk': newVersions,
  // Memberships of who signs in there would follow, which is another event.
  'settings.updateOidcTeamMappings': async ({ db }) => {
    await db('user_identities').delete();
    return {};
  },
  'settings.updateFleet': async () => ({ logsRetentionDays: 9 }),
  'settings.updateScim': async ({ db }) => {
    await db('scim_settings').insert({ id: 'scim', enabled: false }).onConflict('id').merge();
    return { enabled: true };
  },
};

/** The input, changed so that the mutation has something to change. */
export async function changing<T>(name: string, side: Side, input: T): Promise<T> {
  const more = await OTHERWISE[name]?.(side);
  return more ? { ...input, ...more } : input;
}

/** Of users: those of the leader come at any time. */
const events = (db: TestDb) => db('audit_log').where({ actor_type: 'user' });

export const eventCount = async (db: TestDb): Promise<number> =>
  Number((await events(db).count('* as n').first())?.n);

/** What users have left in the audit log since there were `count` events of them. */
export const eventsSince = (db: TestDb, count: number): Promise<EventRow[]> =>
  events(db).orderBy(['created_at', 'id']).offset(count);

export interface Done {
  caller: TestUser;
  input: unknown;
  /** What it has left. */
  events: EventRow[];
}

export function expectEvents(name: string, row: Row, side: Side, { caller, input, events }: Done): void {
  const operation = OPERATIONS.get(name)!;
  const action = operation.kind === 'mutation' ? operation.audit : '';
  expect(events.map((event) => event.action).sort()).to.deep.equal(SEVERAL[name] ?? [action]);
  const things = events.map((event) => `${event.action} ${event.entity_type} ${event.entity_id}`);
  expect(new Set(things).size, things.join()).to.equal(things.length);
  for (const event of events) {
    expect(event).to.include({ actor_type: 'user', user_email: caller.email, ip_address: '127.0.0.1' });
    expect(event.user_id).to.be.a('string');
    expect(event.entity_type).to.match(/^[A-Z][A-Za-z]+$/);
    expect(event.entity_id).to.be.a('string');
  }
  expectPlaces(row, side, input, events);
  const tellsChange = events.some(({ diff }) => diff !== null && Object.keys(diff).length > 0);
  if (CHANGES.test(name)) expect(tellsChange || name in WITHOUT_DIFF, 'says what it was').to.equal(true);
}

function expectPlaces({ names }: Row, { teamId }: Side, input: unknown, events: readonly EventRow[]): void {
  const places = input === NOTHING ? {} : (input as { teamId?: string; environmentId?: string });
  if (names !== 'own') for (const { team_id } of events) expect(team_id, 'its team').to.equal(teamId);
  if (names === 'scope' && places.environmentId)
    for (const { environment_id } of events) expect(environment_id).to.equal(places.environmentId);
  if (places.teamId) expect(events.map(({ team_id }) => team_id)).to.include(places.teamId);
}
