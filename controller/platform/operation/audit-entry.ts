/** What a mutation says of itself; who, when and from where come from its context. Never a secret's value. */
export interface AuditEntry {
  /** For example `pipeline.deployed`. */
  action?: string;
  entityType: string;
  entityId: string | null;
  /** Field to `[before, after]`. */
  diff?: Record<string, [unknown, unknown]>;
  metadata?: Record<string, unknown>;
  teamId?: string | null;
  environmentId?: string | null;
  commitSha?: string | null;
}
