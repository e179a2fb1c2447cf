/** SCIM 2.0 (RFC 7643, RFC 7644): names and limits that users and groups share. */
import Type, { type Static } from 'typebox';
import { Timestamp } from '../api/common.ts';

export const SCIM_URNS = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
  patch: 'urn:ietf:params:scim:api:messages:2.0:PatchOp',
  search: 'urn:ietf:params:scim:api:messages:2.0:SearchRequest',
  serviceProvider: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
} as const;

export const SCIM_LIMITS = {
  /** Of a page, where nothing is said, and at most. */
  count: { default: 100, maximum: 1_000 },
  bodyBytes: 4 * 1_024 * 1_024,
  filterLength: 2_000,
  /** Comparisons of one filter, and levels of parentheses, brackets and their like. */
  filterTerms: 50,
  filterDepth: 10,
  pathLength: 1_000,
  /** On a user; on a group as many as members. */
  operations: 2_000,
  /** That one request names. */
  members: 20_000,
  /** Of one page of groups, which ends early at the limit; a single group is returned whole. */
  membersOfPage: 20_000,
  emails: 20,
  text: 256,
  /** Of an address, and of a user name. */
  address: 320,
} as const;

export const ScimId = Type.String({ minLength: 1, maxLength: 64 });
export const ExternalId = Type.String({ minLength: 1, maxLength: SCIM_LIMITS.text });
export const DisplayName = Type.String({ minLength: 1, maxLength: SCIM_LIMITS.text });

/** `startIndex` counts from 1. */
export const ScimPage = {
  startIndex: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  count: Type.Integer({ minimum: 0, maximum: SCIM_LIMITS.count.maximum }),
};

/** RFC 7644, 3.4.2.2; null for everything. */
export const FilterText = Type.Union([Type.String({ maxLength: SCIM_LIMITS.filterLength }), Type.Null()]);
/** What chooses among the values of an attribute, as it stands in the brackets of a path: RFC 7644, 3.5.2. */
export const WhereText = Type.String({ maxLength: SCIM_LIMITS.pathLength });

/** When a resource came and was last changed. */
export const ScimTimes = { createdAt: Timestamp, updatedAt: Timestamp };

/** A resource as it is referred to: its id, and what people call it. */
export const Reference = Type.Object({ value: ScimId, display: Type.String() });
export type Reference = Static<typeof Reference>;
