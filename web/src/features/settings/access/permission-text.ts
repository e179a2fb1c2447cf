import type { Permission } from '../../../../../schemas/api/identity/service-accounts.ts';

/** What each allows, in the order in which they are offered. */
export const PERMISSION_LABELS = {
  'pipelines.read': 'see pipelines and versions',
  'pipelines.deploy': 'deploy, undeploy and roll back',
  'pipelines.edit': 'make, change and delete pipelines; read their whole configuration',
  'nodes.read': 'see nodes',
  'nodes.manage': 'maintenance mode and updates of nodes',
  'secrets.read': 'see names of secrets, never values',
  'secrets.manage': 'make, replace and delete secrets',
  'alerts.read': 'see alert rules',
  'alerts.manage': 'make alert rules',
  'alerts.edit': 'change and delete alert rules',
  'audit.read': 'read the audit log',
  'metrics.read': 'read metrics',
  'gitops.read': 'see what git wants and what became of it',
  'gitops.manage': 'sync, suspend and resume',
  'pulls.review': 'approve pull requests, or ask for changes',
  'pulls.merge': 'merge pull requests',
} as const satisfies Record<Permission, string>;

const isPermission = (name: string): name is Permission => Object.hasOwn(PERMISSION_LABELS, name);
export const PERMISSIONS: readonly Permission[] = Object.keys(PERMISSION_LABELS).filter(isPermission);
