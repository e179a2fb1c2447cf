/** Service accounts: keys for programs, each for one environment and with the permissions that it was made with. */
import Type, { type Static } from 'typebox';
import { worded } from '../../patterns.ts';
import { Id, Input, Nullable, Text, Timestamp } from '../common.ts';

export const PERMISSIONS = [
  'pipelines.read',
  /** Deploy, undeploy, roll back. */
  'pipelines.deploy',
  /** Make, change and delete pipelines; their configuration as it is, with what is written out in it. */
  'pipelines.edit',
  'nodes.read',
  /** Maintenance mode and updates. */
  'nodes.manage',
  /** Names and times, never values. */
  'secrets.read',
  'secrets.manage',
  'alerts.read',
  /** Make. */
  'alerts.manage',
  /** Change and delete. */
  'alerts.edit',
  'audit.read',
  'metrics.read',
  'gitops.read',
  'gitops.manage',
  'pulls.review',
  'pulls.merge',
] as const;
export const Permission = Type.Enum([...PERMISSIONS]);
export type Permission = Static<typeof Permission>;

/** No white space at its ends, no control characters: it stands in the audit log as who did it. */
export const ServiceAccountName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: worded(
    '^[^\\s\\p{Cc}]([^\\p{Cc}]*[^\\s\\p{Cc}])?$',
    'must have no blanks at its ends and no control characters',
  ),
});

export const ServiceAccount = Type.Object({
  id: Id,
  environmentId: Id,
  name: Type.String(),
  description: Nullable(Type.String()),
  /** In the order of `PERMISSIONS`. */
  permissions: Type.Array(Permission),
  /** Null where the user is gone. */
  createdById: Nullable(Type.String()),
  createdByName: Nullable(Type.String()),
  createdAt: Timestamp,
  /** Null is never. */
  expiresAt: Nullable(Timestamp),
  revokedAt: Nullable(Timestamp),
  /** Exact to an hour; null before the first use. */
  lastUsedAt: Nullable(Timestamp),
});
export type ServiceAccount = Static<typeof ServiceAccount>;
export const ServiceAccountList = Type.Array(ServiceAccount);

export const ListServiceAccounts = Input({ environmentId: Id });
export const CreateServiceAccount = Input({
  environmentId: Id,
  name: ServiceAccountName,
  description: Type.Optional(Text(500)),
  permissions: Type.Array(Permission, { minItems: 1, maxItems: PERMISSIONS.length, uniqueItems: true }),
  /** Absent is no expiry. */
  expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
});
/** The raw key is shown here once and stored only as a hash. */
export const CreatedServiceAccount = Type.Object({ ...ServiceAccount.properties, key: Type.String() });
export const ServiceAccountId = Input({ id: Id });
export const DeletedServiceAccount = Type.Object({ deleted: Type.Literal(true) });
