/** An audit log of years, written straight into the database, and who looks at it. */
import { createPasswords } from '../../controller/identity/access/sign-in/passwords.ts';
import { insertUser } from '../../controller/identity/access/users/users-store.ts';
import type { TestDb } from '../support/harness/test-db.ts';
import { ADMIN } from './health-watch.ts';

export const TEAMS = 20;
export const ENVIRONMENTS = 100;
export const PEOPLE = 200;
const DAYS = 3 * 365;
const DAY_MS = 86_400_000;
/** Events of one statement. */
const BATCH = 250_000;

export const MEMBER = { email: 'person-1@example.org', password: 'correct horse battery' };
/** The teams of that member. */
export const OF_MEMBER = [1, 6, 11];

/** What happens, by where; the first of each is the most frequent by far. */
const ACTIONS = {
  environment: [
    ...['pipeline.updated', 'pipeline.deployed', 'pipeline.graphSaved', 'pipeline.versionCreated'],
    ...['node.updated', 'secret.updated', 'pipeline.created', 'pipeline.tapStarted', 'pipeline.rolledBack'],
    ...['alertRule.updated', 'node.maintenanceChanged', 'secret.created', 'promotion.opened'],
    ...['rollout.created', 'node.deleted', 'environment.updated', 'certificate.uploaded'],
  ],
  team: ['vrlSnippet.updated', 'filterPreset.created', 'template.created', 'team.memberAdded'],
  git: [
    'pipeline.converged',
    'gitSync.proposed',
    'secret.registered',
    'alertRule.pruned',
    'pullRequest.merged',
  ],
  own: ['user.signedIn', 'user.signedOut', 'userPreference.set', 'user.tokenCreated', 'user.passwordChanged'],
  scim: [
    'scimUser.updated',
    'scimGroup.updated',
    'scimUser.created',
    'scimUser.deactivated',
    'scimGroup.created',
  ],
  system: ['node.revoked', 'rollout.broadened', 'audit.exported'],
} as const;
/** One event in 500,000. */
export const RARE = 'settings.scimTokenGenerated';
export const ALL_ACTIONS: readonly string[] = [...Object.values(ACTIONS).flat(), RARE];

const id = (kind: string, n: number | string) => `01${kind}${String(n).padStart(24 - kind.length, '0')}`;
export const teamId = (n: number) => id('team', n);
export const environmentId = (n: number) => id('env', n);
export const personId = (n: number) => id('person', n);
const sqlId = (kind: string, n: string) => `'01${kind}' || lpad((${n})::text, ${24 - kind.length}, '0')`;

export const DAY = {
  /** `2026-01-31`, so many days before the last event. */
  ago: (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10),
  any: (): number => Math.floor(Math.random() * DAYS),
};

/** Teams of five environments and ten people each, all from 0; `MEMBER` is person 1. And a super admin. */
export async function writePeople(db: TestDb): Promise<void> {
  await db.raw(
    `INSERT INTO teams (id, name) SELECT ${sqlId('team', 'n')}, 'team-' || n FROM generate_series(0, ?) n`,
    [TEAMS - 1],
  );
  await db.raw(
    `INSERT INTO environments (id, team_id, name) SELECT ${sqlId('env', 'n')}, ${sqlId('team', 'n % :teams')}, 'environment-' || n
     FROM generate_series(0, :last) n`,
    { teams: TEAMS, last: ENVIRONMENTS - 1 },
  );
  await db.raw(
    `INSERT INTO users (id, email, name, password_hash)
     SELECT ${sqlId('person', 'n')}, 'person-' || n || '@example.org', 'Person ' || n, ? FROM generate_series(0, ?) n`,
    [await createPasswords().hash(MEMBER.password), PEOPLE - 1],
  );
  await insertUser(db, {
    email: ADMIN.HEADGATE_ADMIN_EMAIL,
    name: 'Bench',
    passwordHash: await createPasswords().hash(ADMIN.HEADGATE_ADMIN_PASSWORD),
    isSuperAdmin: true,
  });
  await db.raw(
    `INSERT INTO team_members (team_id, user_id, role)
     SELECT ${sqlId('team', 'n % :teams')}, ${sqlId('person', 'n')}, 'EDITOR' FROM generate_series(0, :last) n
     UNION SELECT ${sqlId('team', 't')}, ${sqlId('person', '1')}, 'EDITOR' FROM unnest(:more::integer[]) t`,
    { teams: TEAMS, last: PEOPLE - 1, more: OF_MEMBER },
  );
}

/**
 * So many events in the order of their numbers, the last of them of now. The hashes follow one another and are made up.
 * The indexes are made at the end, which takes a third of the time; what autovacuum would have done is done.
 */
export async function writeAuditLog(
  db: TestDb,
  count: number,
  progress: (made: number) => void,
): Promise<void> {
  const { rows: indexes } = await db.raw<{ rows: { name: string; sql: string }[] }>(
    `SELECT indexname AS name, indexdef AS sql FROM pg_indexes
     WHERE tablename = 'audit_log' AND indexname <> 'audit_log_pkey' ORDER BY indexname`,
  );
  for (const { name } of indexes) await db.raw('DROP INDEX ??', [name]);
  await db.raw('SELECT setseed(0.5)');
  for (let from = 1; from <= count; from += BATCH) {
    const to = Math.min(count, from + BATCH - 1);
    await db.raw(EVENTS, { from, to, count, actions: JSON.stringify(ACTIONS) });
    progress(to);
  }
  await db.raw(`SET maintenance_work_mem = '512MB'`);
  for (const { sql } of indexes) await db.raw(sql);
  await db.raw('VACUUM (ANALYZE) audit_log');
  await db.raw('ANALYZE');
}

/** Of 100 events: 50 in an environment, 8 of a team, 22 by git, 10 of one's own, 4 by SCIM, 5 by service accounts, 1 by Headgate. */
const EVENTS = `
  INSERT INTO audit_log (id, seq, prev_hash, hash, actor_type, user_id, user_email, action, entity_type, entity_id, diff,
    metadata, ip_address, team_id, environment_id, commit_sha, created_at)
  SELECT ${sqlId('', 'n')}, n, encode(sha256((n - 1)::text::bytea), 'hex'), encode(sha256(n::text::bytea), 'hex'), actor,
    CASE actor WHEN 'user' THEN ${sqlId('person', 'person')} WHEN 'service_account' THEN ${sqlId('robot', 'environment % 10')} END,
    CASE actor WHEN 'user' THEN 'person-' || person || '@example.org' WHEN 'service_account' THEN 'robot-' || environment % 10
      WHEN 'git' THEN 'Person ' || person || ' <person-' || person || '@example.org>' END,
    action, upper(left(action, 1)) || substr(split_part(action, '.', 1), 2), ${sqlId('thing', 'n % 5000')},
    CASE WHEN n % 5 < 3 THEN jsonb_build_object('name', jsonb_build_array('orders-' || n % 997, 'orders-' || n % 991),
      'description', jsonb_build_array('what comes from the shops', 'what comes from the shops and the warehouse')) END,
    jsonb_build_object('name', 'pipeline-' || n % 5000, 'version', n % 300, 'changelog', 'sampling of debug lines'),
    CASE WHEN actor IN ('user', 'service_account') THEN '192.0.2.' || person END,
    CASE WHEN place IN ('environment', 'team') THEN ${sqlId('team', `environment % ${TEAMS}`)} END,
    CASE WHEN place IN ('environment', 'git', 'system') THEN ${sqlId('env', 'environment')} END,
    CASE WHEN actor = 'git' THEN substr(md5(n::text), 1, 32) || '00000000' END,
    now() - (CAST(:count AS bigint) - n + random()) / CAST(:count AS bigint) * (${DAYS} * interval '1 day')
  FROM (
    SELECT n, place, environment,
      CASE place WHEN 'environment' THEN CASE WHEN kind < 0.5 THEN 'user' ELSE 'service_account' END
        WHEN 'team' THEN 'user' WHEN 'own' THEN 'user' ELSE place END AS actor,
      CASE WHEN n % 500000 = 0 THEN '${RARE}' ELSE choice ->> floor(jsonb_array_length(choice) * what * what * what)::integer END AS action,
      CASE WHEN stranger < 0.1 OR place = 'own' THEN floor(${PEOPLE} * stranger * 10)::integer % ${PEOPLE}
        ELSE environment % ${TEAMS} + ${TEAMS} * floor(${PEOPLE} / ${TEAMS} * who * who)::integer END AS person
    FROM (
      SELECT n, kind, place, what, who, stranger, floor(${ENVIRONMENTS} * spot * spot)::integer AS environment,
        CAST(:actions AS jsonb) -> place AS choice
      FROM (
        SELECT n, kind, what, who, stranger, spot, CASE WHEN kind < 0.55 THEN 'environment' WHEN kind < 0.63 THEN 'team'
          WHEN kind < 0.85 THEN 'git' WHEN kind < 0.95 THEN 'own' WHEN kind < 0.99 THEN 'scim' ELSE 'system' END AS place
        FROM (
          SELECT n, random() AS kind, random() AS what, random() AS who, random() AS stranger, random() AS spot
          FROM generate_series(CAST(:from AS bigint), CAST(:to AS bigint)) n
        ) drawn
      ) placed
    ) spread
  ) told`;
