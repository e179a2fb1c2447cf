/** Users as SCIM leaves them, written straight into the database: ten thousand requests would take minutes. */
import { SCIM_URNS } from '../../schemas/scim/common.ts';
import type { TestDb } from '../support/harness/test-db.ts';

/** Numbers of users become what an identity provider would know of them. */
export const userName = (n: number): string => `Person.${n}@Example.org`;
export const externalId = (n: number): string => `00u${String(n).padStart(17, '0')}`;

/** What a provider sends of a new user. */
export const userResource = (n: number) => ({
  schemas: [SCIM_URNS.user],
  userName: userName(n),
  externalId: externalId(n),
  displayName: `Person ${n}`,
  name: { formatted: `Person ${n}`, givenName: 'Person', familyName: String(n) },
  emails: [{ value: userName(n), type: 'work', primary: true }],
  active: true,
});

/** The users 1 to `count`, each as `userResource` tells of it; answers their ids, that of user 1 first. */
export async function writeScimUsers(db: TestDb, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `01bench${String(index + 1).padStart(19, '0')}`);
  await db.raw(
    `WITH made AS (INSERT INTO users (id, email, name, auth_method, is_super_admin)
       SELECT id, 'Person.' || n || '@Example.org', 'Person ' || n, 'OIDC', false
       FROM unnest(?::text[]) WITH ORDINALITY AS u (id, n) RETURNING id, email, name)
     INSERT INTO scim_users (user_id, user_name, external_id, attributes)
     SELECT id, email, '00u' || lpad(split_part(name, ' ', 2), 17, '0'), jsonb_build_object('displayName', name,
       'name', jsonb_build_object('formatted', name, 'givenName', 'Person', 'familyName', split_part(name, ' ', 2)),
       'emails', jsonb_build_array(jsonb_build_object('value', email, 'type', 'work', 'primary', true)))
     FROM made`,
    [ids],
  );
  await db.raw('ANALYZE users, scim_users');
  return ids;
}

/** What a user leaves in the database, without what is of this one alone. */
export async function traceOf(db: TestDb, n: number): Promise<string> {
  const { rows } = await db.raw<{ rows: { user: object; record: object }[] }>(
    `SELECT to_jsonb(u) - '{id,created_at,updated_at}'::text[] AS user,
       to_jsonb(s) - '{user_id,created_at,updated_at}'::text[] AS record
     FROM scim_users s JOIN users u ON u.id = s.user_id WHERE lower(s.user_name) = lower(?)`,
    [userName(n)],
  );
  return JSON.stringify(rows).replaceAll(externalId(n), 'external id').replaceAll(String(n), 'n');
}
