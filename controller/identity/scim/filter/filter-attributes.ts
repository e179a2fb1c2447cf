/** The attributes by which users, groups and members can be filtered, and their SQL. */
import { SCIM_URNS } from '../../../../schemas/scim/common.ts';
import type { Attributes, Column, ManyValued } from './filter-sql.ts';

/** RFC 7643: `id`, `externalId` and references are case-sensitive, all other attributes are not. */
const text = (sql: string, caseExact = false): Column => ({ type: 'text', sql, caseExact });
const date = (sql: string): Column => ({ type: 'date', sql });
const NOT_STORED: Column = { type: 'absent' };

const times = (table: string) => ({
  'meta.created': date(`${table}.created_at`),
  'meta.lastmodified': date(`${table}.updated_at`),
});

const EMAILS: ManyValued = {
  type: 'many',
  from: "jsonb_array_elements(COALESCE(s.attributes->'emails', '[]')) AS e WHERE TRUE",
  parts: {
    value: text("e->>'value'"),
    type: text("e->>'type'"),
    display: text("e->>'display'"),
    primary: { type: 'boolean', sql: "COALESCE((e->>'primary')::boolean, FALSE)" },
  },
};

const GROUPS: ManyValued = {
  type: 'many',
  from: `directory_group_members m JOIN directory_groups g ON g.id = m.group_id
    WHERE g.source = 'scim' AND m.user_id = s.user_id`,
  parts: { value: text('g.id', true), display: text('g.display_name') },
};

/** Attributes of `scim_users s`. */
export const USER_ATTRIBUTES: Attributes = {
  refusal: 'invalidFilter',
  known:
    'id, externalId, userName, displayName, name (formatted, givenName, familyName), active, emails (value, type, display, primary), groups (value, display), meta.created and meta.lastModified',
  columns: {
    id: text('s.user_id', true),
    externalid: text('s.external_id', true),
    username: text('s.user_name'),
    displayname: text("s.attributes->>'displayName'"),
    'name.formatted': text("s.attributes->'name'->>'formatted'"),
    'name.givenname': text("s.attributes->'name'->>'givenName'"),
    'name.familyname': text("s.attributes->'name'->>'familyName'"),
    active: { type: 'boolean', sql: 's.active' },
    emails: EMAILS,
    groups: GROUPS,
    schemas: text(`'${SCIM_URNS.user}'`),
    // Microsoft's guide: Entra ID filters by the manager before it sets one. We do not store it.
    manager: NOT_STORED,
    'manager.value': NOT_STORED,
    ...times('s'),
  },
};

const MEMBER_PARTS: ManyValued['parts'] = {
  value: text('m.user_id', true),
  display: text("COALESCE(u.attributes->>'displayName', u.user_name)"),
  type: text("'User'"),
};

/** Attributes of `directory_groups g`. */
export const GROUP_ATTRIBUTES: Attributes = {
  refusal: 'invalidFilter',
  known: 'id, externalId, displayName, members (value, display, type), meta.created and meta.lastModified',
  columns: {
    id: text('g.id', true),
    externalid: text('g.external_id', true),
    displayname: text('g.display_name'),
    members: {
      type: 'many',
      from: `directory_group_members m JOIN scim_users u ON u.user_id = m.user_id WHERE m.group_id = g.id`,
      parts: MEMBER_PARTS,
    },
    schemas: text(`'${SCIM_URNS.group}'`),
    ...times('g'),
  },
};

/** Attributes of `directory_group_members m` and `scim_users u`, for the path of a PATCH. */
export const MEMBER_ATTRIBUTES: Attributes = {
  refusal: 'invalidPath',
  known: 'value, display and type',
  columns: MEMBER_PARTS,
};
