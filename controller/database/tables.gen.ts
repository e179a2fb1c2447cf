/** Generated from the migrated schema by test/tools/database/table-types.ts. Do not edit. */
import type { Knex } from 'knex';

// biome-ignore lint/suspicious/noExplicitAny: what a JSON column holds is checked where it is read.
type Json = any;

export interface AiConversationsRow {
  component_key: string;
  created_at: Date;
  id: string;
  kind: 'debug' | 'pipeline' | 'vrl';
  pipeline_id: string;
  used_at: Date;
  user_id: string;
}

export interface AiConversationsInsert {
  component_key?: string | Knex.Raw;
  created_at: Date | Knex.Raw;
  id: string | Knex.Raw;
  kind: 'debug' | 'pipeline' | 'vrl' | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  used_at: Date | Knex.Raw;
  user_id: string | Knex.Raw;
}

export interface AiMessagesRow {
  alive_at: Date | null;
  author: 'assistant' | 'user';
  content: string;
  conversation_id: string;
  created_at: Date;
  id: string;
  input_tokens: number;
  note: string | null;
  output_tokens: number;
  state: 'done' | 'failed' | 'running' | 'stopped';
  stop_requested: boolean;
  suggestions: Json;
}

export interface AiMessagesInsert {
  alive_at?: Date | null | Knex.Raw;
  author: 'assistant' | 'user' | Knex.Raw;
  content: string | Knex.Raw;
  conversation_id: string | Knex.Raw;
  created_at: Date | Knex.Raw;
  id: string | Knex.Raw;
  input_tokens?: number | Knex.Raw;
  note?: string | null | Knex.Raw;
  output_tokens?: number | Knex.Raw;
  state: 'done' | 'failed' | 'running' | 'stopped' | Knex.Raw;
  stop_requested?: boolean | Knex.Raw;
  suggestions?: Json | Knex.Raw;
}

export interface AiProvidersRow {
  base_url: string | null;
  created_at: Date;
  id: string;
  kind: 'anthropic' | 'openai';
  model: string;
  requests_per_user_per_hour: number;
  sealed_api_key: string | null;
  team_id: string;
  timeout_seconds: number;
  tokens_per_day: number;
  tokens_per_month: number;
  updated_at: Date;
}

export interface AiProvidersInsert {
  base_url?: string | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  id: string | Knex.Raw;
  kind: 'anthropic' | 'openai' | Knex.Raw;
  model: string | Knex.Raw;
  requests_per_user_per_hour: number | Knex.Raw;
  sealed_api_key?: string | null | Knex.Raw;
  team_id: string | Knex.Raw;
  timeout_seconds: number | Knex.Raw;
  tokens_per_day: number | Knex.Raw;
  tokens_per_month: number | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface AiRequestsRow {
  finished_at: Date | null;
  id: string;
  input_tokens: number;
  output_tokens: number;
  purpose: string;
  reserved_tokens: number;
  started_at: Date;
  team_id: string;
  user_id: string | null;
}

export interface AiRequestsInsert {
  finished_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  input_tokens?: number | Knex.Raw;
  output_tokens?: number | Knex.Raw;
  purpose: string | Knex.Raw;
  reserved_tokens: number | Knex.Raw;
  started_at: Date | Knex.Raw;
  team_id: string | Knex.Raw;
  user_id?: string | null | Knex.Raw;
}

export interface AlertEventChangesRow {
  at: Date;
  event_id: string;
  id: number;
  kind: 'acknowledged' | 'fired' | 'fired_again' | 'muted' | 'resolved' | 'unmuted';
  note: string | null;
  user_email: string | null;
  value: number | null;
}

export interface AlertEventChangesInsert {
  at: Date | Knex.Raw;
  event_id: string | Knex.Raw;
  id?: number | Knex.Raw;
  kind: 'acknowledged' | 'fired' | 'fired_again' | 'muted' | 'resolved' | 'unmuted' | Knex.Raw;
  note?: string | null | Knex.Raw;
  user_email?: string | null | Knex.Raw;
  value?: number | null | Knex.Raw;
}

export interface AlertEventsRow {
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
  condition: string;
  duration_seconds: number;
  environment_id: string;
  fired_at: Date;
  id: string;
  message: string;
  metric: string;
  muted_by: string | null;
  node_id: string | null;
  node_labels: Json | null;
  node_name: string | null;
  notified: boolean;
  opened_at: Date;
  peak: number | null;
  pipeline_id: string | null;
  pipeline_name: string | null;
  resolved_at: Date | null;
  resolved_reason: string | null;
  rule_id: string;
  rule_name: string;
  status: 'acknowledged' | 'firing' | 'resolved';
  subject: string;
  threshold: number;
  times: number;
  value: number | null;
}

export interface AlertEventsInsert {
  acknowledged_at?: Date | null | Knex.Raw;
  acknowledged_by?: string | null | Knex.Raw;
  condition: string | Knex.Raw;
  duration_seconds: number | Knex.Raw;
  environment_id: string | Knex.Raw;
  fired_at: Date | Knex.Raw;
  id: string | Knex.Raw;
  message: string | Knex.Raw;
  metric: string | Knex.Raw;
  muted_by?: string | null | Knex.Raw;
  node_id?: string | null | Knex.Raw;
  node_labels?: Json | null | Knex.Raw;
  node_name?: string | null | Knex.Raw;
  notified?: boolean | Knex.Raw;
  opened_at: Date | Knex.Raw;
  peak?: number | null | Knex.Raw;
  pipeline_id?: string | null | Knex.Raw;
  pipeline_name?: string | null | Knex.Raw;
  resolved_at?: Date | null | Knex.Raw;
  resolved_reason?: string | null | Knex.Raw;
  rule_id: string | Knex.Raw;
  rule_name: string | Knex.Raw;
  status: 'acknowledged' | 'firing' | 'resolved' | Knex.Raw;
  subject: string | Knex.Raw;
  threshold: number | Knex.Raw;
  times?: number | Knex.Raw;
  value?: number | null | Knex.Raw;
}

export interface AlertRuleEvaluationsRow {
  evaluated_at: Date;
  firing: number;
  pending: number;
  rule_id: string;
  series: number;
  with_value: number;
}

export interface AlertRuleEvaluationsInsert {
  evaluated_at: Date | Knex.Raw;
  firing: number | Knex.Raw;
  pending: number | Knex.Raw;
  rule_id: string | Knex.Raw;
  series: number | Knex.Raw;
  with_value: number | Knex.Raw;
}

export interface AlertRulesRow {
  condition: 'eq' | 'gt' | 'lt';
  created_at: Date;
  duration_seconds: number;
  enabled: boolean;
  environment_id: string;
  id: string;
  labels: Json;
  managed_by: 'git' | 'ui';
  metric: string;
  name: string;
  pipeline_id: string | null;
  spec_hash: string | null;
  threshold: number;
  tombstoned_at: Date | null;
  uid: string | null;
  updated_at: Date;
}

export interface AlertRulesInsert {
  condition: 'eq' | 'gt' | 'lt' | Knex.Raw;
  created_at?: Date | Knex.Raw;
  duration_seconds?: number | Knex.Raw;
  enabled?: boolean | Knex.Raw;
  environment_id: string | Knex.Raw;
  id: string | Knex.Raw;
  labels?: Json | Knex.Raw;
  managed_by?: 'git' | 'ui' | Knex.Raw;
  metric: string | Knex.Raw;
  name: string | Knex.Raw;
  pipeline_id?: string | null | Knex.Raw;
  spec_hash?: string | null | Knex.Raw;
  threshold: number | Knex.Raw;
  tombstoned_at?: Date | null | Knex.Raw;
  uid?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface AlertSilencesRow {
  created_at: Date;
  created_by: string | null;
  ends_at: Date;
  environment_id: string;
  id: string;
  labels: Json;
  managed_by: 'git' | 'ui';
  matchers: Json;
  name: string;
  reason: string;
  spec_hash: string | null;
  starts_at: Date;
  tombstoned_at: Date | null;
  uid: string | null;
  updated_at: Date;
}

export interface AlertSilencesInsert {
  created_at?: Date | Knex.Raw;
  created_by?: string | null | Knex.Raw;
  ends_at: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  id: string | Knex.Raw;
  labels?: Json | Knex.Raw;
  managed_by?: 'git' | 'ui' | Knex.Raw;
  matchers: Json | Knex.Raw;
  name: string | Knex.Raw;
  reason: string | Knex.Raw;
  spec_hash?: string | null | Knex.Raw;
  starts_at: Date | Knex.Raw;
  tombstoned_at?: Date | null | Knex.Raw;
  uid?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface AlertStatesRow {
  clear_since: Date | null;
  missing: number;
  rule_id: string;
  since: Date | null;
  subject: string;
}

export interface AlertStatesInsert {
  clear_since?: Date | null | Knex.Raw;
  missing?: number | Knex.Raw;
  rule_id: string | Knex.Raw;
  since?: Date | null | Knex.Raw;
  subject: string | Knex.Raw;
}

export interface AnomaliesRow {
  commit_sha: string | null;
  decided_at: Date | null;
  decided_by: string | null;
  deployed_at: Date | null;
  direction: 'down' | 'up';
  ended_at: Date | null;
  environment_id: string;
  expected_high: number;
  expected_low: number;
  id: string;
  last_seen_at: Date;
  metric: 'errors' | 'eventsIn' | 'latency';
  pipeline_id: string;
  severity: 'critical' | 'info' | 'warning';
  sigma: number;
  started_at: Date;
  status: 'acknowledged' | 'dismissed' | 'open';
  value: number;
  version: number | null;
}

export interface AnomaliesInsert {
  commit_sha?: string | null | Knex.Raw;
  decided_at?: Date | null | Knex.Raw;
  decided_by?: string | null | Knex.Raw;
  deployed_at?: Date | null | Knex.Raw;
  direction: 'down' | 'up' | Knex.Raw;
  ended_at?: Date | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  expected_high: number | Knex.Raw;
  expected_low: number | Knex.Raw;
  id: string | Knex.Raw;
  last_seen_at: Date | Knex.Raw;
  metric: 'errors' | 'eventsIn' | 'latency' | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  severity: 'critical' | 'info' | 'warning' | Knex.Raw;
  sigma: number | Knex.Raw;
  started_at: Date | Knex.Raw;
  status?: 'acknowledged' | 'dismissed' | 'open' | Knex.Raw;
  value: number | Knex.Raw;
  version?: number | null | Knex.Raw;
}

export interface AuditKeysRow {
  created_at: Date;
  id: string;
  sealed_key: string;
}

export interface AuditKeysInsert {
  created_at?: Date | Knex.Raw;
  id?: string | Knex.Raw;
  sealed_key: string | Knex.Raw;
}

export interface AuditLogRow {
  action: string;
  actor_type: 'git' | 'scim' | 'service_account' | 'system' | 'user';
  commit_sha: string | null;
  created_at: Date;
  diff: Json | null;
  entity_id: string | null;
  entity_type: string;
  environment_id: string | null;
  hash: string | null;
  id: string;
  ip_address: string | null;
  mac: string | null;
  metadata: Json | null;
  prev_hash: string | null;
  seq: number | null;
  team_id: string | null;
  user_email: string | null;
  user_id: string | null;
}

export interface AuditLogInsert {
  action: string | Knex.Raw;
  actor_type: 'git' | 'scim' | 'service_account' | 'system' | 'user' | Knex.Raw;
  commit_sha?: string | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  diff?: Json | null | Knex.Raw;
  entity_id?: string | null | Knex.Raw;
  entity_type: string | Knex.Raw;
  environment_id?: string | null | Knex.Raw;
  hash?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  ip_address?: string | null | Knex.Raw;
  mac?: string | null | Knex.Raw;
  metadata?: Json | null | Knex.Raw;
  prev_hash?: string | null | Knex.Raw;
  seq?: number | null | Knex.Raw;
  team_id?: string | null | Knex.Raw;
  user_email?: string | null | Knex.Raw;
  user_id?: string | null | Knex.Raw;
}

export interface BackupRunsRow {
  bytes: number;
  error: string | null;
  filename: string;
  finished_at: Date | null;
  id: string;
  kind: 'create' | 'restore' | 'verify';
  phase: string;
  requested_by: string;
  rows: number;
  size: number | null;
  started_at: Date;
  status: 'COMPLETED' | 'FAILED' | 'RUNNING';
  tables_done: number;
  tables_total: number;
  triggered_by: 'command' | 'manual' | 'scheduled';
}

export interface BackupRunsInsert {
  bytes?: number | Knex.Raw;
  error?: string | null | Knex.Raw;
  filename: string | Knex.Raw;
  finished_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  kind: 'create' | 'restore' | 'verify' | Knex.Raw;
  phase?: string | Knex.Raw;
  requested_by: string | Knex.Raw;
  rows?: number | Knex.Raw;
  size?: number | null | Knex.Raw;
  started_at?: Date | Knex.Raw;
  status?: 'COMPLETED' | 'FAILED' | 'RUNNING' | Knex.Raw;
  tables_done?: number | Knex.Raw;
  tables_total?: number | Knex.Raw;
  triggered_by: 'command' | 'manual' | 'scheduled' | Knex.Raw;
}

export interface BackupSettingsRow {
  access_key_id: string | null;
  backend: 'local' | 's3';
  bucket: string | null;
  cron: string;
  endpoint: string | null;
  id: string;
  prefix: string;
  region: string | null;
  retention_count: number;
  schedule_enabled: boolean;
  scheduled_through: Date;
  sealed_secret_access_key: string | null;
  updated_at: Date;
}

export interface BackupSettingsInsert {
  access_key_id?: string | null | Knex.Raw;
  backend?: 'local' | 's3' | Knex.Raw;
  bucket?: string | null | Knex.Raw;
  cron?: string | Knex.Raw;
  endpoint?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  prefix?: string | Knex.Raw;
  region?: string | null | Knex.Raw;
  retention_count?: number | Knex.Raw;
  schedule_enabled?: boolean | Knex.Raw;
  scheduled_through?: Date | Knex.Raw;
  sealed_secret_access_key?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface CertificatesRow {
  created_at: Date;
  environment_id: string;
  expires_at: Date | null;
  facts: Json;
  file_type: 'ca' | 'cert' | 'key';
  filename: string;
  id: string;
  name: string;
  sealed_data: string;
  updated_at: Date;
}

export interface CertificatesInsert {
  created_at?: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  expires_at?: Date | null | Knex.Raw;
  facts: Json | Knex.Raw;
  file_type: 'ca' | 'cert' | 'key' | Knex.Raw;
  filename: string | Knex.Raw;
  id: string | Knex.Raw;
  name: string | Knex.Raw;
  sealed_data: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface CommitStatusesRow {
  created_at: Date;
  description: string;
  environment_id: string;
  posted: string | null;
  sha: string;
  state: 'error' | 'failure' | 'pending' | 'success';
  updated_at: Date;
}

export interface CommitStatusesInsert {
  created_at?: Date | Knex.Raw;
  description: string | Knex.Raw;
  environment_id: string | Knex.Raw;
  posted?: string | null | Knex.Raw;
  sha: string | Knex.Raw;
  state: 'error' | 'failure' | 'pending' | 'success' | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface ComponentMinutesRow {
  bytes_in: number;
  bytes_out: number;
  component_id: string;
  discarded: number;
  errors: number;
  events_in: number;
  events_out: number;
  exits: number;
  kind: string;
  latency_count: number;
  latency_sum: number;
  minute: Date;
  nodes: number;
  pipeline_id: string;
  seconds: number;
  utilization: number | null;
}

export interface ComponentMinutesInsert {
  bytes_in?: number | Knex.Raw;
  bytes_out?: number | Knex.Raw;
  component_id: string | Knex.Raw;
  discarded?: number | Knex.Raw;
  errors?: number | Knex.Raw;
  events_in?: number | Knex.Raw;
  events_out?: number | Knex.Raw;
  exits?: number | Knex.Raw;
  kind: string | Knex.Raw;
  latency_count?: number | Knex.Raw;
  latency_sum?: number | Knex.Raw;
  minute: Date | Knex.Raw;
  nodes?: number | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds?: number | Knex.Raw;
  utilization?: number | null | Knex.Raw;
}

export interface ConfigMigrationsRow {
  blocks: Json;
  bytes: number;
  created_at: Date;
  created_by: string;
  environment_id: string | null;
  generated_at: Date | null;
  generated_by: string | null;
  generated_name: string | null;
  id: string;
  name: string;
  pipeline_id: string | null;
  platform: string;
  problems: Json;
  pull_request_id: string | null;
  revision: number;
  sealed_original: string;
  status: 'CREATED' | 'GENERATED' | 'PARSED' | 'TRANSLATED' | 'VALIDATED';
  team_id: string;
  translations: Json;
  updated_at: Date;
  validation: Json | null;
}

export interface ConfigMigrationsInsert {
  blocks?: Json | Knex.Raw;
  bytes: number | Knex.Raw;
  created_at?: Date | Knex.Raw;
  created_by: string | Knex.Raw;
  environment_id?: string | null | Knex.Raw;
  generated_at?: Date | null | Knex.Raw;
  generated_by?: string | null | Knex.Raw;
  generated_name?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  name: string | Knex.Raw;
  pipeline_id?: string | null | Knex.Raw;
  platform: string | Knex.Raw;
  problems?: Json | Knex.Raw;
  pull_request_id?: string | null | Knex.Raw;
  revision?: number | Knex.Raw;
  sealed_original: string | Knex.Raw;
  status?: 'CREATED' | 'GENERATED' | 'PARSED' | 'TRANSLATED' | 'VALIDATED' | Knex.Raw;
  team_id: string | Knex.Raw;
  translations?: Json | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  validation?: Json | null | Knex.Raw;
}

export interface CostRecommendationsRow {
  analyzed_at: Date;
  applied_version: number | null;
  change: Json | null;
  created_at: Date;
  environment_id: string;
  figures: Json;
  id: string;
  pipeline_id: string;
  pull_request_id: string | null;
  resolved_at: Date | null;
  resolved_by: string | null;
  saved_bytes_per_month: number | null;
  status: 'APPLIED' | 'DISMISSED' | 'PENDING';
  type: 'HIGH_CARDINALITY' | 'HIGH_ERROR_RATE' | 'LOW_REDUCTION' | 'STALE_PIPELINE';
}

export interface CostRecommendationsInsert {
  analyzed_at?: Date | Knex.Raw;
  applied_version?: number | null | Knex.Raw;
  change?: Json | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  figures: Json | Knex.Raw;
  id: string | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  pull_request_id?: string | null | Knex.Raw;
  resolved_at?: Date | null | Knex.Raw;
  resolved_by?: string | null | Knex.Raw;
  saved_bytes_per_month?: number | null | Knex.Raw;
  status?: 'APPLIED' | 'DISMISSED' | 'PENDING' | Knex.Raw;
  type: 'HIGH_CARDINALITY' | 'HIGH_ERROR_RATE' | 'LOW_REDUCTION' | 'STALE_PIPELINE' | Knex.Raw;
}

export interface DirectoryGroupMembersRow {
  group_id: string;
  issuer: string;
  user_id: string;
}

export interface DirectoryGroupMembersInsert {
  group_id: string | Knex.Raw;
  issuer?: string | Knex.Raw;
  user_id: string | Knex.Raw;
}

export interface DirectoryGroupsRow {
  created_at: Date;
  display_name: string;
  external_id: string | null;
  id: string;
  source: 'oidc' | 'scim';
  updated_at: Date;
}

export interface DirectoryGroupsInsert {
  created_at?: Date | Knex.Raw;
  display_name: string | Knex.Raw;
  external_id?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  source: 'oidc' | 'scim' | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface EngineComponentsRow {
  components: Json;
  digest: string;
  environment_id: string;
  first_seen_at: Date;
}

export interface EngineComponentsInsert {
  components: Json | Knex.Raw;
  digest: string | Knex.Raw;
  environment_id: string | Knex.Raw;
  first_seen_at?: Date | Knex.Raw;
}

export interface EnrollmentTokensRow {
  created_at: Date;
  environment_id: string;
  expires_at: Date | null;
  id: string;
  max_uses: number | null;
  revoked_at: Date | null;
  token_hash: Buffer;
  uses: number;
}

export interface EnrollmentTokensInsert {
  created_at?: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  expires_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  max_uses?: number | null | Knex.Raw;
  revoked_at?: Date | null | Knex.Raw;
  token_hash: Buffer | Knex.Raw;
  uses?: number | Knex.Raw;
}

export interface EnvironmentsRow {
  archive_nodes_after_days: number;
  auto_revert: boolean;
  config_revision: number;
  costs_analyzed_at: Date | null;
  created_at: Date;
  id: string;
  max_nodes: number | null;
  name: string;
  price_per_gb: number | null;
  redact_keys: string[] | null;
  require_approval: boolean;
  sealed_secret_backend_config: string | null;
  secret_backend: 'BUILTIN' | 'CLOUD_SM' | 'EXEC' | 'VAULT';
  team_id: string;
  updated_at: Date;
}

export interface EnvironmentsInsert {
  archive_nodes_after_days?: number | Knex.Raw;
  auto_revert?: boolean | Knex.Raw;
  config_revision?: number | Knex.Raw;
  costs_analyzed_at?: Date | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  id: string | Knex.Raw;
  max_nodes?: number | null | Knex.Raw;
  name: string | Knex.Raw;
  price_per_gb?: number | null | Knex.Raw;
  redact_keys?: readonly string[] | null | Knex.Raw;
  require_approval?: boolean | Knex.Raw;
  sealed_secret_backend_config?: string | null | Knex.Raw;
  secret_backend?: 'BUILTIN' | 'CLOUD_SM' | 'EXEC' | 'VAULT' | Knex.Raw;
  team_id: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface EventStreamsRow {
  batch_end: number | null;
  created_at: Date;
  cursor: number;
  delivered: number;
  enabled: boolean;
  failures: number;
  header_names: Json;
  id: string;
  kind: 'otlp' | 'webhook';
  last_delivered_at: Date | null;
  last_error: string | null;
  last_error_at: Date | null;
  missed: number;
  missed_at: Date | null;
  missed_reason: string | null;
  name: string;
  sealed_headers: string | null;
  sealed_signing_secret: string | null;
  source: 'alerts' | 'audit';
  updated_at: Date;
  url: string;
}

export interface EventStreamsInsert {
  batch_end?: number | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  cursor: number | Knex.Raw;
  delivered?: number | Knex.Raw;
  enabled?: boolean | Knex.Raw;
  failures?: number | Knex.Raw;
  header_names?: Json | Knex.Raw;
  id: string | Knex.Raw;
  kind: 'otlp' | 'webhook' | Knex.Raw;
  last_delivered_at?: Date | null | Knex.Raw;
  last_error?: string | null | Knex.Raw;
  last_error_at?: Date | null | Knex.Raw;
  missed?: number | Knex.Raw;
  missed_at?: Date | null | Knex.Raw;
  missed_reason?: string | null | Knex.Raw;
  name: string | Knex.Raw;
  sealed_headers?: string | null | Knex.Raw;
  sealed_signing_secret?: string | null | Knex.Raw;
  source: 'alerts' | 'audit' | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  url: string | Knex.Raw;
}

export interface FilterPresetsRow {
  created_at: Date;
  created_by_id: string | null;
  environment_id: string;
  filters: Json;
  id: string;
  is_default: boolean;
  name: string;
  scope: 'fleet_matrix' | 'pipeline_list';
  updated_at: Date;
}

export interface FilterPresetsInsert {
  created_at?: Date | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  filters: Json | Knex.Raw;
  id: string | Knex.Raw;
  is_default?: boolean | Knex.Raw;
  name: string | Knex.Raw;
  scope: 'fleet_matrix' | 'pipeline_list' | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface GitApprovalsRow {
  actions: string[];
  approved_at: Date;
  approved_by: string;
  approved_by_id: string | null;
  begun_at: Date | null;
  binding_id: string;
  deeds: string[];
  plan_hash: string;
}

export interface GitApprovalsInsert {
  actions?: readonly string[] | Knex.Raw;
  approved_at?: Date | Knex.Raw;
  approved_by: string | Knex.Raw;
  approved_by_id?: string | null | Knex.Raw;
  begun_at?: Date | null | Knex.Raw;
  binding_id: string | Knex.Raw;
  deeds?: readonly string[] | Knex.Raw;
  plan_hash: string | Knex.Raw;
}

export interface GitBindingsRow {
  applied_commit: Json | null;
  begun_at: Date | null;
  ca_certificate: string | null;
  created_at: Date;
  environment_id: string;
  forge: 'azure-devops' | 'bitbucket' | 'bitbucket-data-center' | 'embedded' | 'gitea' | 'github' | 'gitlab' | 'none';
  forge_app_id: string | null;
  forge_error: Json | null;
  forge_project: string | null;
  forge_url: string | null;
  head_commit: Json | null;
  id: string;
  interval_seconds: number;
  known_hosts: string | null;
  last_error: string | null;
  last_pass_at: Date | null;
  manifest_policy: Json;
  mode: 'observe' | 'off' | 'push' | 'sync';
  path: string;
  policy: Json;
  protect_branch: boolean;
  pull_request_settings: Json;
  read_at: Date | null;
  redirected_to: string | null;
  ref: string;
  repository_url: string;
  required_approvals: number;
  resolved_ref: string | null;
  revision: number;
  rewritten_commit: string | null;
  sealed_credentials: string | null;
  sealed_forge_token: string | null;
  sealed_webhook_secret: string | null;
  shared_paths: Json;
  suspend_reason: string | null;
  suspended_at: Date | null;
  suspended_by: string | null;
  updated_at: Date;
  waiting_actions: string[];
  waiting_deeds: string[];
  waiting_plan: Json | null;
}

export interface GitBindingsInsert {
  applied_commit?: Json | null | Knex.Raw;
  begun_at?: Date | null | Knex.Raw;
  ca_certificate?: string | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  forge?: 'azure-devops' | 'bitbucket' | 'bitbucket-data-center' | 'embedded' | 'gitea' | 'github' | 'gitlab' | 'none' | Knex.Raw;
  forge_app_id?: string | null | Knex.Raw;
  forge_error?: Json | null | Knex.Raw;
  forge_project?: string | null | Knex.Raw;
  forge_url?: string | null | Knex.Raw;
  head_commit?: Json | null | Knex.Raw;
  id: string | Knex.Raw;
  interval_seconds?: number | Knex.Raw;
  known_hosts?: string | null | Knex.Raw;
  last_error?: string | null | Knex.Raw;
  last_pass_at?: Date | null | Knex.Raw;
  manifest_policy?: Json | Knex.Raw;
  mode?: 'observe' | 'off' | 'push' | 'sync' | Knex.Raw;
  path?: string | Knex.Raw;
  policy?: Json | Knex.Raw;
  protect_branch?: boolean | Knex.Raw;
  pull_request_settings?: Json | Knex.Raw;
  read_at?: Date | null | Knex.Raw;
  redirected_to?: string | null | Knex.Raw;
  ref?: string | Knex.Raw;
  repository_url?: string | Knex.Raw;
  required_approvals?: number | Knex.Raw;
  resolved_ref?: string | null | Knex.Raw;
  revision?: number | Knex.Raw;
  rewritten_commit?: string | null | Knex.Raw;
  sealed_credentials?: string | null | Knex.Raw;
  sealed_forge_token?: string | null | Knex.Raw;
  sealed_webhook_secret?: string | null | Knex.Raw;
  shared_paths?: Json | Knex.Raw;
  suspend_reason?: string | null | Knex.Raw;
  suspended_at?: Date | null | Knex.Raw;
  suspended_by?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  waiting_actions?: readonly string[] | Knex.Raw;
  waiting_deeds?: readonly string[] | Knex.Raw;
  waiting_plan?: Json | null | Knex.Raw;
}

export interface GitHoldsRow {
  binding_id: string;
  created_at: Date;
  created_by: string;
  created_by_id: string | null;
  id: string;
  kind: string;
  name: string;
  name_key: string;
  reason: string;
  released_at: Date | null;
  released_by: string | null;
  spec_hash: string;
}

export interface GitHoldsInsert {
  binding_id: string | Knex.Raw;
  created_at?: Date | Knex.Raw;
  created_by?: string | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  kind: string | Knex.Raw;
  name?: string | Knex.Raw;
  name_key: string | Knex.Raw;
  reason: string | Knex.Raw;
  released_at?: Date | null | Knex.Raw;
  released_by?: string | null | Knex.Raw;
  spec_hash: string | Knex.Raw;
}

export interface GitImportErrorsRow {
  binding_id: string;
  column_number: number | null;
  commit_sha: string;
  created_at: Date;
  hint: string;
  id: string;
  kind: string | null;
  line: number | null;
  message: string;
  name: string | null;
  path: string;
  stage: string;
}

export interface GitImportErrorsInsert {
  binding_id: string | Knex.Raw;
  column_number?: number | null | Knex.Raw;
  commit_sha: string | Knex.Raw;
  created_at?: Date | Knex.Raw;
  hint: string | Knex.Raw;
  id: string | Knex.Raw;
  kind?: string | null | Knex.Raw;
  line?: number | null | Knex.Raw;
  message: string | Knex.Raw;
  name?: string | null | Knex.Raw;
  path: string | Knex.Raw;
  stage: string | Knex.Raw;
}

export interface GitJobsRow {
  binding_id: string;
  commit_count: number | null;
  commit_info: Json | null;
  counts: Json;
  error: string | null;
  finished_at: Date | null;
  id: string;
  outcome: string | null;
  plan_hash: string | null;
  queued_at: Date;
  report: Json;
  seq: number;
  skipped_commits: Json;
  started_at: Date | null;
  status: 'completed' | 'failed' | 'pending';
  trigger: string;
  type: 'forge' | 'pass' | 'write-back';
}

export interface GitJobsInsert {
  binding_id: string | Knex.Raw;
  commit_count?: number | null | Knex.Raw;
  commit_info?: Json | null | Knex.Raw;
  counts?: Json | Knex.Raw;
  error?: string | null | Knex.Raw;
  finished_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  outcome?: string | null | Knex.Raw;
  plan_hash?: string | null | Knex.Raw;
  queued_at?: Date | Knex.Raw;
  report?: Json | Knex.Raw;
  seq?: number | Knex.Raw;
  skipped_commits?: Json | Knex.Raw;
  started_at?: Date | null | Knex.Raw;
  status: 'completed' | 'failed' | 'pending' | Knex.Raw;
  trigger: string | Knex.Raw;
  type: 'forge' | 'pass' | 'write-back' | Knex.Raw;
}

export interface GitManifestsRow {
  applied_commit: string | null;
  applied_hash: string | null;
  applied_meta: string | null;
  binding_id: string;
  conditions: Json;
  kind: string;
  line: number;
  name: string;
  name_key: string;
  object_id: string | null;
  path: string;
  prune_pending: boolean;
  prune_policy: 'auto' | 'confirm' | 'never';
  seen_commit: string | null;
  seen_hash: string | null;
  uid: string | null;
  updated_at: Date;
}

export interface GitManifestsInsert {
  applied_commit?: string | null | Knex.Raw;
  applied_hash?: string | null | Knex.Raw;
  applied_meta?: string | null | Knex.Raw;
  binding_id: string | Knex.Raw;
  conditions?: Json | Knex.Raw;
  kind: string | Knex.Raw;
  line: number | Knex.Raw;
  name: string | Knex.Raw;
  name_key: string | Knex.Raw;
  object_id?: string | null | Knex.Raw;
  path: string | Knex.Raw;
  prune_pending?: boolean | Knex.Raw;
  prune_policy?: 'auto' | 'confirm' | 'never' | Knex.Raw;
  seen_commit?: string | null | Knex.Raw;
  seen_hash?: string | null | Knex.Raw;
  uid?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface GroupSettingsRow {
  admin_groups: string | null;
  default_role: 'ADMIN' | 'EDITOR' | 'VIEWER' | null;
  default_team_id: string | null;
  editor_groups: string | null;
  group_sync_enabled: boolean;
  groups_claim: string | null;
  groups_scope: string | null;
  id: string;
  updated_at: Date;
}

export interface GroupSettingsInsert {
  admin_groups?: string | null | Knex.Raw;
  default_role?: 'ADMIN' | 'EDITOR' | 'VIEWER' | null | Knex.Raw;
  default_team_id?: string | null | Knex.Raw;
  editor_groups?: string | null | Knex.Raw;
  group_sync_enabled?: boolean | Knex.Raw;
  groups_claim?: string | null | Knex.Raw;
  groups_scope?: string | null | Knex.Raw;
  id?: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface IdempotentRequestsRow {
  body: string | null;
  claim: string;
  created_at: Date;
  key: string;
  request_hash: string;
  service_account_id: string;
  status: number | null;
}

export interface IdempotentRequestsInsert {
  body?: string | null | Knex.Raw;
  claim: string | Knex.Raw;
  created_at?: Date | Knex.Raw;
  key: string | Knex.Raw;
  request_hash: string | Knex.Raw;
  service_account_id: string | Knex.Raw;
  status?: number | null | Knex.Raw;
}

export interface LeasesRow {
  epoch: number;
  expires_at: Date;
  holder: string;
  key: string;
}

export interface LeasesInsert {
  epoch: number | Knex.Raw;
  expires_at: Date | Knex.Raw;
  holder: string | Knex.Raw;
  key: string | Knex.Raw;
}

export interface LogLinesRow {
  level: 'DEBUG' | 'ERROR' | 'INFO' | 'TRACE' | 'WARN';
  line: string;
  node_id: string;
  pipeline_id: string;
  received_at: Date;
  seq: number;
}

export interface LogLinesInsert {
  level: 'DEBUG' | 'ERROR' | 'INFO' | 'TRACE' | 'WARN' | Knex.Raw;
  line: string | Knex.Raw;
  node_id: string | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  received_at: Date | Knex.Raw;
  seq?: number | Knex.Raw;
}

export interface NodeGroupsRow {
  created_at: Date;
  criteria: Json;
  environment_id: string;
  id: string;
  label_template: Json;
  labels: Json;
  managed_by: 'git' | 'ui';
  name: string;
  required_labels: Json;
  spec_hash: string | null;
  tombstoned_at: Date | null;
  uid: string | null;
  updated_at: Date;
}

export interface NodeGroupsInsert {
  created_at?: Date | Knex.Raw;
  criteria?: Json | Knex.Raw;
  environment_id: string | Knex.Raw;
  id: string | Knex.Raw;
  label_template?: Json | Knex.Raw;
  labels?: Json | Knex.Raw;
  managed_by?: 'git' | 'ui' | Knex.Raw;
  name: string | Knex.Raw;
  required_labels?: Json | Knex.Raw;
  spec_hash?: string | null | Knex.Raw;
  tombstoned_at?: Date | null | Knex.Raw;
  uid?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface NodeMinutesRow {
  cpu_percent: number | null;
  disk_read_rate: number | null;
  disk_written_rate: number | null;
  fs_total_bytes: number | null;
  fs_used_bytes: number | null;
  load_avg1: number | null;
  memory_total_bytes: number | null;
  memory_used_bytes: number | null;
  minute: Date;
  net_rx_rate: number | null;
  net_tx_rate: number | null;
  node_id: string;
}

export interface NodeMinutesInsert {
  cpu_percent?: number | null | Knex.Raw;
  disk_read_rate?: number | null | Knex.Raw;
  disk_written_rate?: number | null | Knex.Raw;
  fs_total_bytes?: number | null | Knex.Raw;
  fs_used_bytes?: number | null | Knex.Raw;
  load_avg1?: number | null | Knex.Raw;
  memory_total_bytes?: number | null | Knex.Raw;
  memory_used_bytes?: number | null | Knex.Raw;
  minute: Date | Knex.Raw;
  net_rx_rate?: number | null | Knex.Raw;
  net_tx_rate?: number | null | Knex.Raw;
  node_id: string | Knex.Raw;
}

export interface NodePipelineMinutesRow {
  bytes_in: number;
  bytes_out: number;
  discarded: number;
  errors: number;
  events_in: number;
  events_out: number;
  exits: number;
  latency_count: number;
  latency_sum: number;
  minute: Date;
  node_id: string;
  nodes: number;
  pipeline_id: string;
  seconds: number;
  utilization: number | null;
}

export interface NodePipelineMinutesInsert {
  bytes_in?: number | Knex.Raw;
  bytes_out?: number | Knex.Raw;
  discarded?: number | Knex.Raw;
  errors?: number | Knex.Raw;
  events_in?: number | Knex.Raw;
  events_out?: number | Knex.Raw;
  exits?: number | Knex.Raw;
  latency_count?: number | Knex.Raw;
  latency_sum?: number | Knex.Raw;
  minute: Date | Knex.Raw;
  node_id: string | Knex.Raw;
  nodes?: number | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds?: number | Knex.Raw;
  utilization?: number | null | Knex.Raw;
}

export interface NodePipelinesRow {
  api_port: number | null;
  bytes_in: number;
  bytes_out: number;
  components: Json;
  config_checksum: string | null;
  crashes: number;
  degraded: string | null;
  draining: Json | null;
  errors_total: number;
  events_discarded: number;
  events_filtered: number;
  events_in: number;
  events_out: number;
  last_drain: Json | null;
  last_error: string | null;
  latency_ms: number | null;
  metrics_as_of: Date | null;
  metrics_port: number | null;
  node_id: string;
  pid: number | null;
  pipeline_id: string;
  proven: boolean;
  ran: boolean;
  ran_version: number | null;
  rate_bytes_in: number;
  rate_bytes_out: number;
  rate_errors: number;
  rate_events_in: number;
  rate_events_out: number;
  refused: Json | null;
  reported_at: Date;
  restarts: number;
  status: 'CRASHED' | 'RUNNING' | 'STARTING' | 'STOPPED';
  status_since: Date;
  uptime_seconds: number | null;
  utilization: number | null;
  version: number;
  warnings: Json;
}

export interface NodePipelinesInsert {
  api_port?: number | null | Knex.Raw;
  bytes_in?: number | Knex.Raw;
  bytes_out?: number | Knex.Raw;
  components?: Json | Knex.Raw;
  config_checksum?: string | null | Knex.Raw;
  crashes?: number | Knex.Raw;
  degraded?: string | null | Knex.Raw;
  draining?: Json | null | Knex.Raw;
  errors_total?: number | Knex.Raw;
  events_discarded?: number | Knex.Raw;
  events_filtered?: number | Knex.Raw;
  events_in?: number | Knex.Raw;
  events_out?: number | Knex.Raw;
  last_drain?: Json | null | Knex.Raw;
  last_error?: string | null | Knex.Raw;
  latency_ms?: number | null | Knex.Raw;
  metrics_as_of?: Date | null | Knex.Raw;
  metrics_port?: number | null | Knex.Raw;
  node_id: string | Knex.Raw;
  pid?: number | null | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  proven?: boolean | Knex.Raw;
  ran?: boolean | Knex.Raw;
  ran_version?: number | null | Knex.Raw;
  rate_bytes_in?: number | Knex.Raw;
  rate_bytes_out?: number | Knex.Raw;
  rate_errors?: number | Knex.Raw;
  rate_events_in?: number | Knex.Raw;
  rate_events_out?: number | Knex.Raw;
  refused?: Json | null | Knex.Raw;
  reported_at: Date | Knex.Raw;
  restarts?: number | Knex.Raw;
  status: 'CRASHED' | 'RUNNING' | 'STARTING' | 'STOPPED' | Knex.Raw;
  status_since: Date | Knex.Raw;
  uptime_seconds?: number | null | Knex.Raw;
  utilization?: number | null | Knex.Raw;
  version: number | Knex.Raw;
  warnings?: Json | Knex.Raw;
}

export interface NodePresenceRow {
  heard_at: Date;
  node_id: string;
  state: number | null;
}

export interface NodePresenceInsert {
  heard_at: Date | Knex.Raw;
  node_id: string | Knex.Raw;
  state?: number | null | Knex.Raw;
}

export interface NodeReportsRow {
  agent_health: Json;
  agent_labels: Json;
  agent_version: string | null;
  delivers_logs: boolean;
  deployment_mode: string | null;
  engine_components: string | null;
  engine_version: string | null;
  host_metrics: Json;
  node_id: string;
  poll_interval_ms: number | null;
  reported_at: Date;
  running_as: string | null;
  update_error: string | null;
}

export interface NodeReportsInsert {
  agent_health?: Json | Knex.Raw;
  agent_labels?: Json | Knex.Raw;
  agent_version?: string | null | Knex.Raw;
  delivers_logs?: boolean | Knex.Raw;
  deployment_mode?: string | null | Knex.Raw;
  engine_components?: string | null | Knex.Raw;
  engine_version?: string | null | Knex.Raw;
  host_metrics?: Json | Knex.Raw;
  node_id: string | Knex.Raw;
  poll_interval_ms?: number | null | Knex.Raw;
  reported_at: Date | Knex.Raw;
  running_as?: string | null | Knex.Raw;
  update_error?: string | null | Knex.Raw;
}

export interface NodeRevertsRow {
  fault: string | null;
  node_id: string;
  pipeline_id: string;
  reason: string;
  refused_by: 'CRASH' | 'NODE_CHECK';
  refused_checksum: string;
  refused_version_id: string;
  served_version_id: string;
  since: Date;
}

export interface NodeRevertsInsert {
  fault?: string | null | Knex.Raw;
  node_id: string | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  reason: string | Knex.Raw;
  refused_by: 'CRASH' | 'NODE_CHECK' | Knex.Raw;
  refused_checksum: string | Knex.Raw;
  refused_version_id: string | Knex.Raw;
  served_version_id: string | Knex.Raw;
  since?: Date | Knex.Raw;
}

export interface NodesRow {
  api_port: number | null;
  archived_at: Date | null;
  channel: string;
  config_revision: number;
  created_at: Date;
  enrolled_at: Date | null;
  enrolled_engine_version: string | null;
  environment_id: string;
  failed_updates: Json;
  host: string;
  id: string;
  maintenance: boolean;
  name: string;
  os: string | null;
  pending_action: Json | null;
  pending_action_at: Date | null;
  pending_action_error_before: string | null;
  pending_action_tried_at: Date | null;
  pending_action_tries: number;
  token_hash: Buffer | null;
  token_id: string | null;
  token_revoked_at: Date | null;
  ui_labels: Json;
  unarchived_at: Date | null;
}

export interface NodesInsert {
  api_port?: number | null | Knex.Raw;
  archived_at?: Date | null | Knex.Raw;
  channel?: string | Knex.Raw;
  config_revision?: number | Knex.Raw;
  created_at?: Date | Knex.Raw;
  enrolled_at?: Date | null | Knex.Raw;
  enrolled_engine_version?: string | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  failed_updates?: Json | Knex.Raw;
  host: string | Knex.Raw;
  id: string | Knex.Raw;
  maintenance?: boolean | Knex.Raw;
  name: string | Knex.Raw;
  os?: string | null | Knex.Raw;
  pending_action?: Json | null | Knex.Raw;
  pending_action_at?: Date | null | Knex.Raw;
  pending_action_error_before?: string | null | Knex.Raw;
  pending_action_tried_at?: Date | null | Knex.Raw;
  pending_action_tries?: number | Knex.Raw;
  token_hash?: Buffer | null | Knex.Raw;
  token_id?: string | null | Knex.Raw;
  token_revoked_at?: Date | null | Knex.Raw;
  ui_labels?: Json | Knex.Raw;
  unarchived_at?: Date | null | Knex.Raw;
}

export interface NotificationDeliveriesRow {
  attempts: number;
  body: string | null;
  created_at: Date;
  endpoint_id: string;
  finished_at: Date | null;
  format: string | null;
  id: string;
  kind: 'firing' | 'resolved' | 'test';
  lane: string;
  last_attempt_at: Date | null;
  last_duration_ms: number | null;
  last_error: string | null;
  last_status: number | null;
  next_at: Date | null;
  repeats: boolean;
  seq: number;
  state: 'collecting' | 'delivered' | 'failed' | 'waiting';
  total: number;
}

export interface NotificationDeliveriesInsert {
  attempts?: number | Knex.Raw;
  body?: string | null | Knex.Raw;
  created_at: Date | Knex.Raw;
  endpoint_id: string | Knex.Raw;
  finished_at?: Date | null | Knex.Raw;
  format?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  kind: 'firing' | 'resolved' | 'test' | Knex.Raw;
  lane: string | Knex.Raw;
  last_attempt_at?: Date | null | Knex.Raw;
  last_duration_ms?: number | null | Knex.Raw;
  last_error?: string | null | Knex.Raw;
  last_status?: number | null | Knex.Raw;
  next_at?: Date | null | Knex.Raw;
  repeats?: boolean | Knex.Raw;
  seq?: number | Knex.Raw;
  state: 'collecting' | 'delivered' | 'failed' | 'waiting' | Knex.Raw;
  total: number | Knex.Raw;
}

export interface NotificationDeliveryEventsRow {
  delivery_id: string;
  event_id: string;
  notice: Json;
  position: number;
  status: 'firing' | 'resolved';
}

export interface NotificationDeliveryEventsInsert {
  delivery_id: string | Knex.Raw;
  event_id: string | Knex.Raw;
  notice: Json | Knex.Raw;
  position: number | Knex.Raw;
  status: 'firing' | 'resolved' | Knex.Raw;
}

export interface NotificationOpenEventsRow {
  environment_id: string;
  event_id: string;
  fired_at: Date;
  metric: string;
  notice: Json;
  rule_id: string;
}

export interface NotificationOpenEventsInsert {
  environment_id: string | Knex.Raw;
  event_id: string | Knex.Raw;
  fired_at: Date | Knex.Raw;
  metric: string | Knex.Raw;
  notice: Json | Knex.Raw;
  rule_id: string | Knex.Raw;
}

export interface ObjectChangesRow {
  at: Date;
  environment_id: string;
}

export interface ObjectChangesInsert {
  at?: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
}

export interface ObjectOverridesRow {
  action: 'adopt' | 'prune' | 'suspend';
  binding_id: string;
  kind: string;
  name_key: string;
  reason: string;
  set_at: Date;
  set_by: string;
  set_by_id: string | null;
}

export interface ObjectOverridesInsert {
  action: 'adopt' | 'prune' | 'suspend' | Knex.Raw;
  binding_id: string | Knex.Raw;
  kind: string | Knex.Raw;
  name_key: string | Knex.Raw;
  reason?: string | Knex.Raw;
  set_at?: Date | Knex.Raw;
  set_by: string | Knex.Raw;
  set_by_id?: string | null | Knex.Raw;
}

export interface OidcAttemptsUsedRow {
  expires_at: Date;
  state_hash: Buffer;
}

export interface OidcAttemptsUsedInsert {
  expires_at: Date | Knex.Raw;
  state_hash: Buffer | Knex.Raw;
}

export interface OidcReportsRow {
  at: Date;
  kind: 'failure' | 'warning';
  message: string;
  provider_id: string;
}

export interface OidcReportsInsert {
  at: Date | Knex.Raw;
  kind: 'failure' | 'warning' | Knex.Raw;
  message: string | Knex.Raw;
  provider_id: string | Knex.Raw;
}

export interface OidcSettingsRow {
  client_id: string;
  display_name: string | null;
  id: string;
  is_from_file: boolean;
  issuer: string;
  options: Json;
  position: number;
  sealed_client_secret: string | null;
  token_endpoint_auth_method: string;
  updated_at: Date;
}

export interface OidcSettingsInsert {
  client_id: string | Knex.Raw;
  display_name?: string | null | Knex.Raw;
  id?: string | Knex.Raw;
  is_from_file?: boolean | Knex.Raw;
  issuer: string | Knex.Raw;
  options?: Json | Knex.Raw;
  position?: number | Knex.Raw;
  sealed_client_secret?: string | null | Knex.Raw;
  token_endpoint_auth_method: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface PackedComponentMinutesRow {
  bytes_in: number[];
  bytes_out: number[];
  component_id: string;
  discarded: number[];
  errors: number[];
  events_in: number[];
  events_out: number[];
  exits: number[];
  hour: Date;
  kind: string;
  latency_count: number[];
  latency_sum: number[];
  nodes: number[];
  pipeline_id: string;
  seconds: number[];
  utilization: number[];
}

export interface PackedComponentMinutesInsert {
  bytes_in: readonly number[] | Knex.Raw;
  bytes_out: readonly number[] | Knex.Raw;
  component_id: string | Knex.Raw;
  discarded: readonly number[] | Knex.Raw;
  errors: readonly number[] | Knex.Raw;
  events_in: readonly number[] | Knex.Raw;
  events_out: readonly number[] | Knex.Raw;
  exits: readonly number[] | Knex.Raw;
  hour: Date | Knex.Raw;
  kind: string | Knex.Raw;
  latency_count: readonly number[] | Knex.Raw;
  latency_sum: readonly number[] | Knex.Raw;
  nodes: readonly number[] | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds: readonly number[] | Knex.Raw;
  utilization: readonly number[] | Knex.Raw;
}

export interface PackedNodeMinutesRow {
  cpu_percent: number[];
  disk_read_rate: number[];
  disk_written_rate: number[];
  fs_total_bytes: number[];
  fs_used_bytes: number[];
  hour: Date;
  load_avg1: number[];
  memory_total_bytes: number[];
  memory_used_bytes: number[];
  net_rx_rate: number[];
  net_tx_rate: number[];
  node_id: string;
}

export interface PackedNodeMinutesInsert {
  cpu_percent: readonly number[] | Knex.Raw;
  disk_read_rate: readonly number[] | Knex.Raw;
  disk_written_rate: readonly number[] | Knex.Raw;
  fs_total_bytes: readonly number[] | Knex.Raw;
  fs_used_bytes: readonly number[] | Knex.Raw;
  hour: Date | Knex.Raw;
  load_avg1: readonly number[] | Knex.Raw;
  memory_total_bytes: readonly number[] | Knex.Raw;
  memory_used_bytes: readonly number[] | Knex.Raw;
  net_rx_rate: readonly number[] | Knex.Raw;
  net_tx_rate: readonly number[] | Knex.Raw;
  node_id: string | Knex.Raw;
}

export interface PackedNodePipelineMinutesRow {
  bytes_in: number[];
  bytes_out: number[];
  discarded: number[];
  errors: number[];
  events_in: number[];
  events_out: number[];
  exits: number[];
  hour: Date;
  latency_count: number[];
  latency_sum: number[];
  node_id: string;
  nodes: number[];
  pipeline_id: string;
  seconds: number[];
  utilization: number[];
}

export interface PackedNodePipelineMinutesInsert {
  bytes_in: readonly number[] | Knex.Raw;
  bytes_out: readonly number[] | Knex.Raw;
  discarded: readonly number[] | Knex.Raw;
  errors: readonly number[] | Knex.Raw;
  events_in: readonly number[] | Knex.Raw;
  events_out: readonly number[] | Knex.Raw;
  exits: readonly number[] | Knex.Raw;
  hour: Date | Knex.Raw;
  latency_count: readonly number[] | Knex.Raw;
  latency_sum: readonly number[] | Knex.Raw;
  node_id: string | Knex.Raw;
  nodes: readonly number[] | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds: readonly number[] | Knex.Raw;
  utilization: readonly number[] | Knex.Raw;
}

export interface PackedPipelineMinutesRow {
  bytes_in: number[];
  bytes_out: number[];
  discarded: number[];
  errors: number[];
  events_in: number[];
  events_out: number[];
  exits: number[];
  hour: Date;
  latency_count: number[];
  latency_sum: number[];
  nodes: number[];
  pipeline_id: string;
  seconds: number[];
  utilization: number[];
}

export interface PackedPipelineMinutesInsert {
  bytes_in: readonly number[] | Knex.Raw;
  bytes_out: readonly number[] | Knex.Raw;
  discarded: readonly number[] | Knex.Raw;
  errors: readonly number[] | Knex.Raw;
  events_in: readonly number[] | Knex.Raw;
  events_out: readonly number[] | Knex.Raw;
  exits: readonly number[] | Knex.Raw;
  hour: Date | Knex.Raw;
  latency_count: readonly number[] | Knex.Raw;
  latency_sum: readonly number[] | Knex.Raw;
  nodes: readonly number[] | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds: readonly number[] | Knex.Raw;
  utilization: readonly number[] | Knex.Raw;
}

export interface PersonalTokensRow {
  created_at: Date;
  expires_at: Date | null;
  id: string;
  last_used_at: Date | null;
  name: string;
  scopes: string[];
  token_hash: Buffer;
  user_id: string;
}

export interface PersonalTokensInsert {
  created_at?: Date | Knex.Raw;
  expires_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  last_used_at?: Date | null | Knex.Raw;
  name: string | Knex.Raw;
  scopes?: readonly string[] | Knex.Raw;
  token_hash: Buffer | Knex.Raw;
  user_id: string | Knex.Raw;
}

export interface PipelineDependenciesRow {
  created_at: Date;
  created_by_id: string | null;
  description: string | null;
  downstream_id: string;
  id: string;
  upstream_id: string;
}

export interface PipelineDependenciesInsert {
  created_at?: Date | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  description?: string | null | Knex.Raw;
  downstream_id: string | Knex.Raw;
  id: string | Knex.Raw;
  upstream_id: string | Knex.Raw;
}

export interface PipelineDeploysRow {
  commit_sha: string | null;
  deployed_at: Date;
  pipeline_id: string;
  version: number;
}

export interface PipelineDeploysInsert {
  commit_sha?: string | null | Knex.Raw;
  deployed_at: Date | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  version: number | Knex.Raw;
}

export interface PipelineGroupMembersRow {
  group_id: string;
  pipeline_id: string;
}

export interface PipelineGroupMembersInsert {
  group_id: string | Knex.Raw;
  pipeline_id: string | Knex.Raw;
}

export interface PipelineGroupsRow {
  color: string | null;
  created_at: Date;
  environment_id: string;
  id: string;
  name: string;
  parent_id: string | null;
  updated_at: Date;
}

export interface PipelineGroupsInsert {
  color?: string | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  id: string | Knex.Raw;
  name: string | Knex.Raw;
  parent_id?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface PipelineHoursRow {
  bytes_in: number;
  bytes_out: number;
  discarded: number;
  environment_id: string;
  errors: number;
  events_in: number;
  events_out: number;
  exits: number;
  hour: Date;
  latency_count: number;
  latency_sum: number;
  nodes: number;
  pipeline_id: string;
  seconds: number;
  utilization: number | null;
}

export interface PipelineHoursInsert {
  bytes_in?: number | Knex.Raw;
  bytes_out?: number | Knex.Raw;
  discarded?: number | Knex.Raw;
  environment_id: string | Knex.Raw;
  errors?: number | Knex.Raw;
  events_in?: number | Knex.Raw;
  events_out?: number | Knex.Raw;
  exits?: number | Knex.Raw;
  hour: Date | Knex.Raw;
  latency_count?: number | Knex.Raw;
  latency_sum?: number | Knex.Raw;
  nodes?: number | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds?: number | Knex.Raw;
  utilization?: number | null | Knex.Raw;
}

export interface PipelineMinutesRow {
  bytes_in: number;
  bytes_out: number;
  discarded: number;
  errors: number;
  events_in: number;
  events_out: number;
  exits: number;
  latency_count: number;
  latency_sum: number;
  minute: Date;
  nodes: number;
  pipeline_id: string;
  seconds: number;
  utilization: number | null;
}

export interface PipelineMinutesInsert {
  bytes_in?: number | Knex.Raw;
  bytes_out?: number | Knex.Raw;
  discarded?: number | Knex.Raw;
  errors?: number | Knex.Raw;
  events_in?: number | Knex.Raw;
  events_out?: number | Knex.Raw;
  exits?: number | Knex.Raw;
  latency_count?: number | Knex.Raw;
  latency_sum?: number | Knex.Raw;
  minute: Date | Knex.Raw;
  nodes?: number | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds?: number | Knex.Raw;
  utilization?: number | null | Knex.Raw;
}

export interface PipelineVersionsRow {
  changelog: string | null;
  commit_author: string | null;
  commit_message: string | null;
  commit_path: string | null;
  commit_sha: string | null;
  config_yaml: string;
  created_at: Date;
  created_by_account_id: string | null;
  created_by_account_name: string | null;
  created_by_id: string | null;
  deployed_until: Date | null;
  drain_seconds: number | null;
  global_config: Json;
  graph_edges: Json;
  graph_nodes: Json;
  id: string;
  log_level: string;
  node_selector: Json | null;
  pipeline_id: string;
  source: 'api' | 'git' | 'ui';
  spec_hash: string | null;
  version: number;
}

export interface PipelineVersionsInsert {
  changelog?: string | null | Knex.Raw;
  commit_author?: string | null | Knex.Raw;
  commit_message?: string | null | Knex.Raw;
  commit_path?: string | null | Knex.Raw;
  commit_sha?: string | null | Knex.Raw;
  config_yaml: string | Knex.Raw;
  created_at?: Date | Knex.Raw;
  created_by_account_id?: string | null | Knex.Raw;
  created_by_account_name?: string | null | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  deployed_until?: Date | null | Knex.Raw;
  drain_seconds?: number | null | Knex.Raw;
  global_config: Json | Knex.Raw;
  graph_edges: Json | Knex.Raw;
  graph_nodes: Json | Knex.Raw;
  id: string | Knex.Raw;
  log_level: string | Knex.Raw;
  node_selector?: Json | null | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  source: 'api' | 'git' | 'ui' | Knex.Raw;
  spec_hash?: string | null | Knex.Raw;
  version: number | Knex.Raw;
}

export interface PipelinesRow {
  auto_revert: boolean | null;
  created_at: Date;
  depends_on: Json;
  deployed_at: Date | null;
  deployed_version_id: string | null;
  description: string | null;
  drain_seconds: number | null;
  environment_id: string;
  global_config: Json;
  graph_edges: Json;
  graph_nodes: Json;
  graph_revision: number;
  id: string;
  is_draft: boolean;
  labels: Json;
  latest_version_id: string | null;
  log_level: string;
  managed_by: 'git' | 'ui';
  name: string;
  node_selector: Json | null;
  spec_hash: string | null;
  tombstoned_at: Date | null;
  uid: string | null;
  updated_at: Date;
}

export interface PipelinesInsert {
  auto_revert?: boolean | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  depends_on?: Json | Knex.Raw;
  deployed_at?: Date | null | Knex.Raw;
  deployed_version_id?: string | null | Knex.Raw;
  description?: string | null | Knex.Raw;
  drain_seconds?: number | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  global_config?: Json | Knex.Raw;
  graph_edges?: Json | Knex.Raw;
  graph_nodes?: Json | Knex.Raw;
  graph_revision?: number | Knex.Raw;
  id: string | Knex.Raw;
  is_draft?: boolean | Knex.Raw;
  labels?: Json | Knex.Raw;
  latest_version_id?: string | null | Knex.Raw;
  log_level?: string | Knex.Raw;
  managed_by?: 'git' | 'ui' | Knex.Raw;
  name: string | Knex.Raw;
  node_selector?: Json | null | Knex.Raw;
  spec_hash?: string | null | Knex.Raw;
  tombstoned_at?: Date | null | Knex.Raw;
  uid?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface PromotionsRow {
  branch: string | null;
  created_at: Date;
  decided_at: Date | null;
  decided_by: string | null;
  decided_by_id: string | null;
  deployed_at: Date | null;
  id: string;
  last_error: string | null;
  note: string | null;
  pipeline_id: string | null;
  pipeline_name: string;
  pull_request_id: string | null;
  requested_by: string;
  requested_by_id: string | null;
  silent_nodes: string[];
  snapshot: Json;
  source_environment_id: string | null;
  source_environment_name: string;
  source_version: number | null;
  status: 'AWAITING_PR_MERGE' | 'CANCELLED' | 'DEPLOYED' | 'PENDING' | 'REJECTED';
  target_environment_id: string;
  target_name: string;
  target_pipeline_id: string | null;
  target_version: number | null;
  updated_at: Date;
  written: Json | null;
}

export interface PromotionsInsert {
  branch?: string | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  decided_at?: Date | null | Knex.Raw;
  decided_by?: string | null | Knex.Raw;
  decided_by_id?: string | null | Knex.Raw;
  deployed_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  last_error?: string | null | Knex.Raw;
  note?: string | null | Knex.Raw;
  pipeline_id?: string | null | Knex.Raw;
  pipeline_name: string | Knex.Raw;
  pull_request_id?: string | null | Knex.Raw;
  requested_by: string | Knex.Raw;
  requested_by_id?: string | null | Knex.Raw;
  silent_nodes?: readonly string[] | Knex.Raw;
  snapshot: Json | Knex.Raw;
  source_environment_id?: string | null | Knex.Raw;
  source_environment_name?: string | Knex.Raw;
  source_version?: number | null | Knex.Raw;
  status: 'AWAITING_PR_MERGE' | 'CANCELLED' | 'DEPLOYED' | 'PENDING' | 'REJECTED' | Knex.Raw;
  target_environment_id: string | Knex.Raw;
  target_name: string | Knex.Raw;
  target_pipeline_id?: string | null | Knex.Raw;
  target_version?: number | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  written?: Json | null | Knex.Raw;
}

export interface PullRequestChecksRow {
  base_sha: string;
  comment_id: string | null;
  computed_at: Date | null;
  environment_id: string;
  head_sha: string;
  inputs: string;
  plan: Json | null;
  posted_comment: string | null;
  posted_status: string | null;
  pull_request_id: string;
  reason: string | null;
  state: 'error' | 'failure' | 'pending' | 'success';
  summary: string;
}

export interface PullRequestChecksInsert {
  base_sha: string | Knex.Raw;
  comment_id?: string | null | Knex.Raw;
  computed_at?: Date | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  head_sha: string | Knex.Raw;
  inputs?: string | Knex.Raw;
  plan?: Json | null | Knex.Raw;
  posted_comment?: string | null | Knex.Raw;
  posted_status?: string | null | Knex.Raw;
  pull_request_id: string | Knex.Raw;
  reason?: string | null | Knex.Raw;
  state: 'error' | 'failure' | 'pending' | 'success' | Knex.Raw;
  summary: string | Knex.Raw;
}

export interface PullRequestCommentsRow {
  author: string;
  author_id: string | null;
  body: string;
  created_at: Date;
  id: string;
  marker: string | null;
  pull_request_id: string;
  updated_at: Date;
}

export interface PullRequestCommentsInsert {
  author: string | Knex.Raw;
  author_id?: string | null | Knex.Raw;
  body: string | Knex.Raw;
  created_at?: Date | Knex.Raw;
  id: string | Knex.Raw;
  marker?: string | null | Knex.Raw;
  pull_request_id: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface PullRequestReviewsRow {
  body: string;
  created_at: Date;
  head_sha: string;
  id: string;
  pull_request_id: string;
  reviewer: string;
  reviewer_id: string | null;
  verdict: 'approve' | 'request-changes';
}

export interface PullRequestReviewsInsert {
  body?: string | Knex.Raw;
  created_at?: Date | Knex.Raw;
  head_sha: string | Knex.Raw;
  id: string | Knex.Raw;
  pull_request_id: string | Knex.Raw;
  reviewer: string | Knex.Raw;
  reviewer_id?: string | null | Knex.Raw;
  verdict: 'approve' | 'request-changes' | Knex.Raw;
}

export interface PullRequestsRow {
  author: string;
  author_id: string | null;
  auto_merge: boolean;
  base: string;
  base_sha: string | null;
  binding_id: string | null;
  body: string;
  branch: string;
  branch_settled_at: Date | null;
  closed_at: Date | null;
  conflicts: string[];
  contributor_ids: string[];
  created_at: Date;
  forge: 'azure-devops' | 'bitbucket' | 'bitbucket-data-center' | 'gitea' | 'github' | 'gitlab' | 'headgate';
  head_sha: string;
  id: string;
  is_draft: boolean;
  is_fork: boolean;
  merge_method: string | null;
  merge_sha: string | null;
  mergeable: 'clean' | 'conflict' | 'unknown';
  merged_by: string | null;
  notice: string | null;
  number: number;
  project: string;
  pushed_sha: string | null;
  reopened_at: Date | null;
  repository: string;
  state: 'closed' | 'merged' | 'open';
  subject: Json;
  title: string;
  updated_at: Date;
  url: string | null;
}

export interface PullRequestsInsert {
  author: string | Knex.Raw;
  author_id?: string | null | Knex.Raw;
  auto_merge?: boolean | Knex.Raw;
  base: string | Knex.Raw;
  base_sha?: string | null | Knex.Raw;
  binding_id?: string | null | Knex.Raw;
  body?: string | Knex.Raw;
  branch: string | Knex.Raw;
  branch_settled_at?: Date | null | Knex.Raw;
  closed_at?: Date | null | Knex.Raw;
  conflicts?: readonly string[] | Knex.Raw;
  contributor_ids?: readonly string[] | Knex.Raw;
  created_at?: Date | Knex.Raw;
  forge?: 'azure-devops' | 'bitbucket' | 'bitbucket-data-center' | 'gitea' | 'github' | 'gitlab' | 'headgate' | Knex.Raw;
  head_sha: string | Knex.Raw;
  id: string | Knex.Raw;
  is_draft?: boolean | Knex.Raw;
  is_fork?: boolean | Knex.Raw;
  merge_method?: string | null | Knex.Raw;
  merge_sha?: string | null | Knex.Raw;
  mergeable?: 'clean' | 'conflict' | 'unknown' | Knex.Raw;
  merged_by?: string | null | Knex.Raw;
  notice?: string | null | Knex.Raw;
  number: number | Knex.Raw;
  project?: string | Knex.Raw;
  pushed_sha?: string | null | Knex.Raw;
  reopened_at?: Date | null | Knex.Raw;
  repository: string | Knex.Raw;
  state?: 'closed' | 'merged' | 'open' | Knex.Raw;
  subject?: Json | Knex.Raw;
  title: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  url?: string | null | Knex.Raw;
}

export interface RepositoryActivityRow {
  expires_at: Date;
  id: string;
  kind: 'maintenance' | 'push';
  started_at: Date;
  wanted_at: Date | null;
}

export interface RepositoryActivityInsert {
  expires_at: Date | Knex.Raw;
  id: string | Knex.Raw;
  kind: 'maintenance' | 'push' | Knex.Raw;
  started_at?: Date | Knex.Raw;
  wanted_at?: Date | null | Knex.Raw;
}

export interface RolloutsRow {
  canary_selector: Json;
  canary_version_id: string;
  changelog: string;
  commit_sha: string | null;
  created_at: Date;
  created_by: string;
  created_by_id: string | null;
  end_reason: string | null;
  ended_at: Date | null;
  ended_by: string | null;
  environment_id: string;
  health_started_at: Date | null;
  held_reason: string | null;
  id: string;
  observed: Json;
  on_fail: 'hold' | 'rollback';
  on_pass: 'broaden' | 'hold';
  pipeline_id: string;
  previous_version_id: string | null;
  source: 'git' | 'ui';
  status: 'BROADENED' | 'CANARY_DEPLOYED' | 'HEALTH_CHECK' | 'ROLLED_BACK';
  updated_at: Date;
  verdict: Json | null;
  window_minutes: number;
}

export interface RolloutsInsert {
  canary_selector: Json | Knex.Raw;
  canary_version_id: string | Knex.Raw;
  changelog?: string | Knex.Raw;
  commit_sha?: string | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  created_by: string | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  end_reason?: string | null | Knex.Raw;
  ended_at?: Date | null | Knex.Raw;
  ended_by?: string | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  health_started_at?: Date | null | Knex.Raw;
  held_reason?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  observed?: Json | Knex.Raw;
  on_fail?: 'hold' | 'rollback' | Knex.Raw;
  on_pass?: 'broaden' | 'hold' | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  previous_version_id?: string | null | Knex.Raw;
  source: 'git' | 'ui' | Knex.Raw;
  status: 'BROADENED' | 'CANARY_DEPLOYED' | 'HEALTH_CHECK' | 'ROLLED_BACK' | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  verdict?: Json | null | Knex.Raw;
  window_minutes: number | Knex.Raw;
}

export interface SampleRequestsRow {
  assigned_at: Date;
  component_keys: string[];
  created_at: Date;
  done_at: Date | null;
  earlier_node_ids: string[];
  environment_id: string;
  event_limit: number;
  id: string;
  node_id: string | null;
  pipeline_id: string;
  requested_by_id: string | null;
  sink_keys: string[];
}

export interface SampleRequestsInsert {
  assigned_at: Date | Knex.Raw;
  component_keys: readonly string[] | Knex.Raw;
  created_at: Date | Knex.Raw;
  done_at?: Date | null | Knex.Raw;
  earlier_node_ids?: readonly string[] | Knex.Raw;
  environment_id: string | Knex.Raw;
  event_limit: number | Knex.Raw;
  id: string | Knex.Raw;
  node_id?: string | null | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  requested_by_id?: string | null | Knex.Raw;
  sink_keys: readonly string[] | Knex.Raw;
}

export interface SampleResultsRow {
  component_key: string;
  error: string | null;
  events: Json;
  fields: Json;
  received_at: Date;
  redact_keys: string[] | null;
  request_id: string;
}

export interface SampleResultsInsert {
  component_key: string | Knex.Raw;
  error?: string | null | Knex.Raw;
  events: Json | Knex.Raw;
  fields: Json | Knex.Raw;
  received_at: Date | Knex.Raw;
  redact_keys?: readonly string[] | null | Knex.Raw;
  request_id: string | Knex.Raw;
}

export interface SchemaMigrationsRow {
  name: string;
  ran_at: Date;
}

export interface SchemaMigrationsInsert {
  name: string | Knex.Raw;
  ran_at?: Date | Knex.Raw;
}

export interface ScimRefusalsRow {
  created_at: Date;
  detail: string;
  id: number;
  method: string;
  path: string;
  scim_type: string | null;
  status: number;
}

export interface ScimRefusalsInsert {
  created_at: Date | Knex.Raw;
  detail: string | Knex.Raw;
  id?: number | Knex.Raw;
  method: string | Knex.Raw;
  path: string | Knex.Raw;
  scim_type?: string | null | Knex.Raw;
  status: number | Knex.Raw;
}

export interface ScimSettingsRow {
  enabled: boolean;
  id: string;
  last_used_at: Date | null;
  sealed_token: string | null;
  token_created_at: Date | null;
}

export interface ScimSettingsInsert {
  enabled?: boolean | Knex.Raw;
  id?: string | Knex.Raw;
  last_used_at?: Date | null | Knex.Raw;
  sealed_token?: string | null | Knex.Raw;
  token_created_at?: Date | null | Knex.Raw;
}

export interface ScimUsersRow {
  active: boolean;
  attributes: Json;
  created_at: Date;
  deleted_at: Date | null;
  external_id: string | null;
  updated_at: Date;
  user_id: string;
  user_name: string;
}

export interface ScimUsersInsert {
  active?: boolean | Knex.Raw;
  attributes?: Json | Knex.Raw;
  created_at?: Date | Knex.Raw;
  deleted_at?: Date | null | Knex.Raw;
  external_id?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  user_id: string | Knex.Raw;
  user_name: string | Knex.Raw;
}

export interface ScimWaitingMembersRow {
  created_at: Date;
  group_id: string;
  value: string;
}

export interface ScimWaitingMembersInsert {
  created_at?: Date | Knex.Raw;
  group_id: string | Knex.Raw;
  value: string | Knex.Raw;
}

export interface SecretsRow {
  created_at: Date;
  environment_id: string;
  fetch_error: string | null;
  fetched_at: Date | null;
  id: string;
  name: string;
  path: string | null;
  property: string | null;
  sealed_value: string;
  updated_at: Date;
  variable: string;
  version: string | null;
}

export interface SecretsInsert {
  created_at?: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  fetch_error?: string | null | Knex.Raw;
  fetched_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  name: string | Knex.Raw;
  path?: string | null | Knex.Raw;
  property?: string | null | Knex.Raw;
  sealed_value: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  variable: string | Knex.Raw;
  version?: string | null | Knex.Raw;
}

export interface SeriesReadingsRow {
  node_id: string;
  pipeline_id: string;
  read_at: Date;
  reading: Json;
}

export interface SeriesReadingsInsert {
  node_id: string | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  read_at: Date | Knex.Raw;
  reading: Json | Knex.Raw;
}

export interface ServiceAccountsRow {
  created_at: Date;
  created_by_id: string | null;
  description: string | null;
  environment_id: string;
  expires_at: Date | null;
  id: string;
  key_hash: Buffer;
  last_used_at: Date | null;
  name: string;
  permissions: Json;
  revoked_at: Date | null;
}

export interface ServiceAccountsInsert {
  created_at?: Date | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  description?: string | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  expires_at?: Date | null | Knex.Raw;
  id: string | Knex.Raw;
  key_hash: Buffer | Knex.Raw;
  last_used_at?: Date | null | Knex.Raw;
  name: string | Knex.Raw;
  permissions: Json | Knex.Raw;
  revoked_at?: Date | null | Knex.Raw;
}

export interface SessionsRow {
  confirmed_at: Date | null;
  created_at: Date;
  expires_at: Date;
  id: string;
  ip_address: string | null;
  last_seen_at: Date | null;
  method: 'oidc' | 'password';
  provider_issuer: string | null;
  provider_sid: string | null;
  provider_subject: string | null;
  sealed_id_token: string | null;
  second_factor: 'provider' | 'totp' | null;
  token_hash: Buffer;
  user_agent: string | null;
  user_id: string;
}

export interface SessionsInsert {
  confirmed_at?: Date | null | Knex.Raw;
  created_at?: Date | Knex.Raw;
  expires_at: Date | Knex.Raw;
  id: string | Knex.Raw;
  ip_address?: string | null | Knex.Raw;
  last_seen_at?: Date | null | Knex.Raw;
  method?: 'oidc' | 'password' | Knex.Raw;
  provider_issuer?: string | null | Knex.Raw;
  provider_sid?: string | null | Knex.Raw;
  provider_subject?: string | null | Knex.Raw;
  sealed_id_token?: string | null | Knex.Raw;
  second_factor?: 'provider' | 'totp' | null | Knex.Raw;
  token_hash: Buffer | Knex.Raw;
  user_agent?: string | null | Knex.Raw;
  user_id: string | Knex.Raw;
}

export interface SettingsRow {
  key: string;
  updated_at: Date;
  value: Json;
}

export interface SettingsInsert {
  key: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  value: Json | Knex.Raw;
}

export interface SharedComponentsRow {
  component_type: string;
  config: Json;
  created_at: Date;
  created_by_id: string | null;
  description: string | null;
  environment_id: string;
  id: string;
  kind: 'SINK' | 'SOURCE' | 'TRANSFORM';
  name: string;
  updated_at: Date;
  version: number;
}

export interface SharedComponentsInsert {
  component_type: string | Knex.Raw;
  config: Json | Knex.Raw;
  created_at?: Date | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  description?: string | null | Knex.Raw;
  environment_id: string | Knex.Raw;
  id: string | Knex.Raw;
  kind: 'SINK' | 'SOURCE' | 'TRANSFORM' | Knex.Raw;
  name: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  version?: number | Knex.Raw;
}

export interface SignInThrottlesRow {
  blocked_until: Date | null;
  failures: number;
  key: string;
  window_ends_at: Date;
}

export interface SignInThrottlesInsert {
  blocked_until?: Date | null | Knex.Raw;
  failures: number | Knex.Raw;
  key: string | Knex.Raw;
  window_ends_at: Date | Knex.Raw;
}

export interface SinkHoursRow {
  bytes_in: number;
  bytes_out: number;
  component_id: string;
  discarded: number;
  environment_id: string;
  errors: number;
  events_in: number;
  events_out: number;
  exits: number;
  hour: Date;
  latency_count: number;
  latency_sum: number;
  nodes: number;
  pipeline_id: string;
  seconds: number;
  utilization: number | null;
}

export interface SinkHoursInsert {
  bytes_in?: number | Knex.Raw;
  bytes_out?: number | Knex.Raw;
  component_id: string | Knex.Raw;
  discarded?: number | Knex.Raw;
  environment_id: string | Knex.Raw;
  errors?: number | Knex.Raw;
  events_in?: number | Knex.Raw;
  events_out?: number | Knex.Raw;
  exits?: number | Knex.Raw;
  hour: Date | Knex.Raw;
  latency_count?: number | Knex.Raw;
  latency_sum?: number | Knex.Raw;
  nodes?: number | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  seconds?: number | Knex.Raw;
  utilization?: number | null | Knex.Raw;
}

export interface TapBatchesRow {
  body: Json;
  created_at: Date;
  id: number;
  tap_id: string;
}

export interface TapBatchesInsert {
  body: Json | Knex.Raw;
  created_at?: Date | Knex.Raw;
  id?: number | Knex.Raw;
  tap_id: string | Knex.Raw;
}

export interface TapsRow {
  component_key: string;
  created_at: Date;
  ends_at: Date;
  environment_id: string;
  id: string;
  is_sink: boolean;
  node_id: string;
  pipeline_id: string;
  user_id: string;
  watched_at: Date;
  watched_by: string | null;
}

export interface TapsInsert {
  component_key: string | Knex.Raw;
  created_at: Date | Knex.Raw;
  ends_at: Date | Knex.Raw;
  environment_id: string | Knex.Raw;
  id: string | Knex.Raw;
  is_sink: boolean | Knex.Raw;
  node_id: string | Knex.Raw;
  pipeline_id: string | Knex.Raw;
  user_id: string | Knex.Raw;
  watched_at: Date | Knex.Raw;
  watched_by?: string | null | Knex.Raw;
}

export interface TeamMappingPatternsRow {
  pattern: string;
  position: number;
  role: 'ADMIN' | 'EDITOR' | 'VIEWER';
}

export interface TeamMappingPatternsInsert {
  pattern: string | Knex.Raw;
  position: number | Knex.Raw;
  role: 'ADMIN' | 'EDITOR' | 'VIEWER' | Knex.Raw;
}

export interface TeamMappingsRow {
  group_name: string;
  position: number;
  role: 'ADMIN' | 'EDITOR' | 'VIEWER';
  team_id: string;
}

export interface TeamMappingsInsert {
  group_name: string | Knex.Raw;
  position: number | Knex.Raw;
  role: 'ADMIN' | 'EDITOR' | 'VIEWER' | Knex.Raw;
  team_id: string | Knex.Raw;
}

export interface TeamMembersRow {
  created_at: Date;
  role: 'ADMIN' | 'EDITOR' | 'VIEWER';
  source: 'group' | 'manual';
  team_id: string;
  user_id: string;
  vouched: boolean;
}

export interface TeamMembersInsert {
  created_at?: Date | Knex.Raw;
  role: 'ADMIN' | 'EDITOR' | 'VIEWER' | Knex.Raw;
  source?: 'group' | 'manual' | Knex.Raw;
  team_id: string | Knex.Raw;
  user_id: string | Knex.Raw;
  vouched?: boolean | Knex.Raw;
}

export interface TeamsRow {
  created_at: Date;
  id: string;
  name: string;
  require_two_factor: boolean;
}

export interface TeamsInsert {
  created_at?: Date | Knex.Raw;
  id: string | Knex.Raw;
  name: string | Knex.Raw;
  require_two_factor?: boolean | Knex.Raw;
}

export interface TemplatesRow {
  category: string;
  component_count: number;
  component_types: Json;
  created_at: Date;
  created_by_id: string | null;
  description: string;
  graph_edges: Json;
  graph_nodes: Json;
  id: string;
  name: string;
  team_id: string;
}

export interface TemplatesInsert {
  category: string | Knex.Raw;
  component_count: number | Knex.Raw;
  component_types: Json | Knex.Raw;
  created_at?: Date | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  description: string | Knex.Raw;
  graph_edges: Json | Knex.Raw;
  graph_nodes: Json | Knex.Raw;
  id: string | Knex.Raw;
  name: string | Knex.Raw;
  team_id: string | Knex.Raw;
}

export interface TotpBackupCodesRow {
  code_hash: Buffer;
  used_at: Date | null;
  user_id: string;
}

export interface TotpBackupCodesInsert {
  code_hash: Buffer | Knex.Raw;
  used_at?: Date | null | Knex.Raw;
  user_id: string | Knex.Raw;
}

export interface UserIdentitiesRow {
  confirmed_at: Date;
  created_at: Date;
  id: string;
  issuer: string;
  last_used_at: Date | null;
  refresh_began_at: Date | null;
  refresh_due_at: Date | null;
  refresh_is_offline: boolean;
  sealed_refresh_token: string | null;
  subject: string;
  user_id: string;
  withdrawn_at: Date | null;
}

export interface UserIdentitiesInsert {
  confirmed_at?: Date | Knex.Raw;
  created_at?: Date | Knex.Raw;
  id?: string | Knex.Raw;
  issuer: string | Knex.Raw;
  last_used_at?: Date | null | Knex.Raw;
  refresh_began_at?: Date | null | Knex.Raw;
  refresh_due_at?: Date | null | Knex.Raw;
  refresh_is_offline?: boolean | Knex.Raw;
  sealed_refresh_token?: string | null | Knex.Raw;
  subject: string | Knex.Raw;
  user_id: string | Knex.Raw;
  withdrawn_at?: Date | null | Knex.Raw;
}

export interface UserPreferencesRow {
  key: string;
  updated_at: Date;
  user_id: string;
  value: string;
}

export interface UserPreferencesInsert {
  key: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  user_id: string | Knex.Raw;
  value: string | Knex.Raw;
}

export interface UsersRow {
  auth_method: 'OIDC' | 'PASSWORD';
  created_at: Date;
  email: string;
  failed_sign_ins: number;
  id: string;
  is_break_glass: boolean;
  is_super_admin: boolean;
  last_sign_in_at: Date | null;
  locked_at: Date | null;
  locked_by: 'admin' | 'scim' | null;
  must_change_password: boolean;
  name: string;
  password_changed_at: Date | null;
  password_expires_at: Date | null;
  password_hash: string | null;
  relink_allowed_at: Date | null;
  sealed_totp_secret: string | null;
  super_admin_by: string | null;
  throttled_until: Date | null;
  totp_enabled: boolean;
  totp_last_step: number | null;
  updated_at: Date;
}

export interface UsersInsert {
  auth_method?: 'OIDC' | 'PASSWORD' | Knex.Raw;
  created_at?: Date | Knex.Raw;
  email: string | Knex.Raw;
  failed_sign_ins?: number | Knex.Raw;
  id: string | Knex.Raw;
  is_break_glass?: boolean | Knex.Raw;
  is_super_admin?: boolean | Knex.Raw;
  last_sign_in_at?: Date | null | Knex.Raw;
  locked_at?: Date | null | Knex.Raw;
  locked_by?: 'admin' | 'scim' | null | Knex.Raw;
  must_change_password?: boolean | Knex.Raw;
  name: string | Knex.Raw;
  password_changed_at?: Date | null | Knex.Raw;
  password_expires_at?: Date | null | Knex.Raw;
  password_hash?: string | null | Knex.Raw;
  relink_allowed_at?: Date | null | Knex.Raw;
  sealed_totp_secret?: string | null | Knex.Raw;
  super_admin_by?: string | null | Knex.Raw;
  throttled_until?: Date | null | Knex.Raw;
  totp_enabled?: boolean | Knex.Raw;
  totp_last_step?: number | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface VrlSnippetsRow {
  category: string;
  code: string;
  created_at: Date;
  created_by_id: string | null;
  description: string | null;
  id: string;
  name: string;
  team_id: string;
  updated_at: Date;
}

export interface VrlSnippetsInsert {
  category: string | Knex.Raw;
  code: string | Knex.Raw;
  created_at?: Date | Knex.Raw;
  created_by_id?: string | null | Knex.Raw;
  description?: string | null | Knex.Raw;
  id: string | Knex.Raw;
  name: string | Knex.Raw;
  team_id: string | Knex.Raw;
  updated_at?: Date | Knex.Raw;
}

export interface WebhookDeliveriesRow {
  binding_id: string;
  delivery_id: string;
  received_at: Date;
}

export interface WebhookDeliveriesInsert {
  binding_id: string | Knex.Raw;
  delivery_id: string | Knex.Raw;
  received_at?: Date | Knex.Raw;
}

export interface WebhookEndpointsRow {
  created_at: Date;
  enabled: boolean;
  environment_id: string | null;
  event_types: string[];
  format: string;
  header_names: string[];
  header_templates: Json;
  id: string;
  labels: Json;
  managed_by: 'git' | 'ui';
  name: string | null;
  plain_url: string | null;
  previous_secret_until: Date | null;
  sealed_headers: string | null;
  sealed_previous_secret: string | null;
  sealed_secret: string | null;
  sealed_url: string | null;
  secret_ref: string | null;
  spec_hash: string | null;
  team_id: string | null;
  tombstoned_at: Date | null;
  uid: string | null;
  updated_at: Date;
  url_ref: string | null;
}

export interface WebhookEndpointsInsert {
  created_at?: Date | Knex.Raw;
  enabled?: boolean | Knex.Raw;
  environment_id?: string | null | Knex.Raw;
  event_types?: readonly string[] | Knex.Raw;
  format?: string | Knex.Raw;
  header_names?: readonly string[] | Knex.Raw;
  header_templates?: Json | Knex.Raw;
  id: string | Knex.Raw;
  labels?: Json | Knex.Raw;
  managed_by?: 'git' | 'ui' | Knex.Raw;
  name?: string | null | Knex.Raw;
  plain_url?: string | null | Knex.Raw;
  previous_secret_until?: Date | null | Knex.Raw;
  sealed_headers?: string | null | Knex.Raw;
  sealed_previous_secret?: string | null | Knex.Raw;
  sealed_secret?: string | null | Knex.Raw;
  sealed_url?: string | null | Knex.Raw;
  secret_ref?: string | null | Knex.Raw;
  spec_hash?: string | null | Knex.Raw;
  team_id?: string | null | Knex.Raw;
  tombstoned_at?: Date | null | Knex.Raw;
  uid?: string | null | Knex.Raw;
  updated_at?: Date | Knex.Raw;
  url_ref?: string | null | Knex.Raw;
}

declare module 'knex/types/tables.js' {
  interface Tables {
    ai_conversations: Knex.CompositeTableType<AiConversationsRow, AiConversationsInsert, Partial<AiConversationsInsert>>;
    ai_messages: Knex.CompositeTableType<AiMessagesRow, AiMessagesInsert, Partial<AiMessagesInsert>>;
    ai_providers: Knex.CompositeTableType<AiProvidersRow, AiProvidersInsert, Partial<AiProvidersInsert>>;
    ai_requests: Knex.CompositeTableType<AiRequestsRow, AiRequestsInsert, Partial<AiRequestsInsert>>;
    alert_event_changes: Knex.CompositeTableType<AlertEventChangesRow, AlertEventChangesInsert, Partial<AlertEventChangesInsert>>;
    alert_events: Knex.CompositeTableType<AlertEventsRow, AlertEventsInsert, Partial<AlertEventsInsert>>;
    alert_rule_evaluations: Knex.CompositeTableType<AlertRuleEvaluationsRow, AlertRuleEvaluationsInsert, Partial<AlertRuleEvaluationsInsert>>;
    alert_rules: Knex.CompositeTableType<AlertRulesRow, AlertRulesInsert, Partial<AlertRulesInsert>>;
    alert_silences: Knex.CompositeTableType<AlertSilencesRow, AlertSilencesInsert, Partial<AlertSilencesInsert>>;
    alert_states: Knex.CompositeTableType<AlertStatesRow, AlertStatesInsert, Partial<AlertStatesInsert>>;
    anomalies: Knex.CompositeTableType<AnomaliesRow, AnomaliesInsert, Partial<AnomaliesInsert>>;
    audit_keys: Knex.CompositeTableType<AuditKeysRow, AuditKeysInsert, Partial<AuditKeysInsert>>;
    audit_log: Knex.CompositeTableType<AuditLogRow, AuditLogInsert, Partial<AuditLogInsert>>;
    backup_runs: Knex.CompositeTableType<BackupRunsRow, BackupRunsInsert, Partial<BackupRunsInsert>>;
    backup_settings: Knex.CompositeTableType<BackupSettingsRow, BackupSettingsInsert, Partial<BackupSettingsInsert>>;
    certificates: Knex.CompositeTableType<CertificatesRow, CertificatesInsert, Partial<CertificatesInsert>>;
    commit_statuses: Knex.CompositeTableType<CommitStatusesRow, CommitStatusesInsert, Partial<CommitStatusesInsert>>;
    component_minutes: Knex.CompositeTableType<ComponentMinutesRow, ComponentMinutesInsert, Partial<ComponentMinutesInsert>>;
    config_migrations: Knex.CompositeTableType<ConfigMigrationsRow, ConfigMigrationsInsert, Partial<ConfigMigrationsInsert>>;
    cost_recommendations: Knex.CompositeTableType<CostRecommendationsRow, CostRecommendationsInsert, Partial<CostRecommendationsInsert>>;
    directory_group_members: Knex.CompositeTableType<DirectoryGroupMembersRow, DirectoryGroupMembersInsert, Partial<DirectoryGroupMembersInsert>>;
    directory_groups: Knex.CompositeTableType<DirectoryGroupsRow, DirectoryGroupsInsert, Partial<DirectoryGroupsInsert>>;
    engine_components: Knex.CompositeTableType<EngineComponentsRow, EngineComponentsInsert, Partial<EngineComponentsInsert>>;
    enrollment_tokens: Knex.CompositeTableType<EnrollmentTokensRow, EnrollmentTokensInsert, Partial<EnrollmentTokensInsert>>;
    environments: Knex.CompositeTableType<EnvironmentsRow, EnvironmentsInsert, Partial<EnvironmentsInsert>>;
    event_streams: Knex.CompositeTableType<EventStreamsRow, EventStreamsInsert, Partial<EventStreamsInsert>>;
    filter_presets: Knex.CompositeTableType<FilterPresetsRow, FilterPresetsInsert, Partial<FilterPresetsInsert>>;
    git_approvals: Knex.CompositeTableType<GitApprovalsRow, GitApprovalsInsert, Partial<GitApprovalsInsert>>;
    git_bindings: Knex.CompositeTableType<GitBindingsRow, GitBindingsInsert, Partial<GitBindingsInsert>>;
    git_holds: Knex.CompositeTableType<GitHoldsRow, GitHoldsInsert, Partial<GitHoldsInsert>>;
    git_import_errors: Knex.CompositeTableType<GitImportErrorsRow, GitImportErrorsInsert, Partial<GitImportErrorsInsert>>;
    git_jobs: Knex.CompositeTableType<GitJobsRow, GitJobsInsert, Partial<GitJobsInsert>>;
    git_manifests: Knex.CompositeTableType<GitManifestsRow, GitManifestsInsert, Partial<GitManifestsInsert>>;
    group_settings: Knex.CompositeTableType<GroupSettingsRow, GroupSettingsInsert, Partial<GroupSettingsInsert>>;
    idempotent_requests: Knex.CompositeTableType<IdempotentRequestsRow, IdempotentRequestsInsert, Partial<IdempotentRequestsInsert>>;
    leases: Knex.CompositeTableType<LeasesRow, LeasesInsert, Partial<LeasesInsert>>;
    log_lines: Knex.CompositeTableType<LogLinesRow, LogLinesInsert, Partial<LogLinesInsert>>;
    node_groups: Knex.CompositeTableType<NodeGroupsRow, NodeGroupsInsert, Partial<NodeGroupsInsert>>;
    node_minutes: Knex.CompositeTableType<NodeMinutesRow, NodeMinutesInsert, Partial<NodeMinutesInsert>>;
    node_pipeline_minutes: Knex.CompositeTableType<NodePipelineMinutesRow, NodePipelineMinutesInsert, Partial<NodePipelineMinutesInsert>>;
    node_pipelines: Knex.CompositeTableType<NodePipelinesRow, NodePipelinesInsert, Partial<NodePipelinesInsert>>;
    node_presence: Knex.CompositeTableType<NodePresenceRow, NodePresenceInsert, Partial<NodePresenceInsert>>;
    node_reports: Knex.CompositeTableType<NodeReportsRow, NodeReportsInsert, Partial<NodeReportsInsert>>;
    node_reverts: Knex.CompositeTableType<NodeRevertsRow, NodeRevertsInsert, Partial<NodeRevertsInsert>>;
    nodes: Knex.CompositeTableType<NodesRow, NodesInsert, Partial<NodesInsert>>;
    notification_deliveries: Knex.CompositeTableType<NotificationDeliveriesRow, NotificationDeliveriesInsert, Partial<NotificationDeliveriesInsert>>;
    notification_delivery_events: Knex.CompositeTableType<NotificationDeliveryEventsRow, NotificationDeliveryEventsInsert, Partial<NotificationDeliveryEventsInsert>>;
    notification_open_events: Knex.CompositeTableType<NotificationOpenEventsRow, NotificationOpenEventsInsert, Partial<NotificationOpenEventsInsert>>;
    object_changes: Knex.CompositeTableType<ObjectChangesRow, ObjectChangesInsert, Partial<ObjectChangesInsert>>;
    object_overrides: Knex.CompositeTableType<ObjectOverridesRow, ObjectOverridesInsert, Partial<ObjectOverridesInsert>>;
    oidc_attempts_used: Knex.CompositeTableType<OidcAttemptsUsedRow, OidcAttemptsUsedInsert, Partial<OidcAttemptsUsedInsert>>;
    oidc_reports: Knex.CompositeTableType<OidcReportsRow, OidcReportsInsert, Partial<OidcReportsInsert>>;
    oidc_settings: Knex.CompositeTableType<OidcSettingsRow, OidcSettingsInsert, Partial<OidcSettingsInsert>>;
    packed_component_minutes: Knex.CompositeTableType<PackedComponentMinutesRow, PackedComponentMinutesInsert, Partial<PackedComponentMinutesInsert>>;
    packed_node_minutes: Knex.CompositeTableType<PackedNodeMinutesRow, PackedNodeMinutesInsert, Partial<PackedNodeMinutesInsert>>;
    packed_node_pipeline_minutes: Knex.CompositeTableType<PackedNodePipelineMinutesRow, PackedNodePipelineMinutesInsert, Partial<PackedNodePipelineMinutesInsert>>;
    packed_pipeline_minutes: Knex.CompositeTableType<PackedPipelineMinutesRow, PackedPipelineMinutesInsert, Partial<PackedPipelineMinutesInsert>>;
    personal_tokens: Knex.CompositeTableType<PersonalTokensRow, PersonalTokensInsert, Partial<PersonalTokensInsert>>;
    pipeline_dependencies: Knex.CompositeTableType<PipelineDependenciesRow, PipelineDependenciesInsert, Partial<PipelineDependenciesInsert>>;
    pipeline_deploys: Knex.CompositeTableType<PipelineDeploysRow, PipelineDeploysInsert, Partial<PipelineDeploysInsert>>;
    pipeline_group_members: Knex.CompositeTableType<PipelineGroupMembersRow, PipelineGroupMembersInsert, Partial<PipelineGroupMembersInsert>>;
    pipeline_groups: Knex.CompositeTableType<PipelineGroupsRow, PipelineGroupsInsert, Partial<PipelineGroupsInsert>>;
    pipeline_hours: Knex.CompositeTableType<PipelineHoursRow, PipelineHoursInsert, Partial<PipelineHoursInsert>>;
    pipeline_minutes: Knex.CompositeTableType<PipelineMinutesRow, PipelineMinutesInsert, Partial<PipelineMinutesInsert>>;
    pipeline_versions: Knex.CompositeTableType<PipelineVersionsRow, PipelineVersionsInsert, Partial<PipelineVersionsInsert>>;
    pipelines: Knex.CompositeTableType<PipelinesRow, PipelinesInsert, Partial<PipelinesInsert>>;
    promotions: Knex.CompositeTableType<PromotionsRow, PromotionsInsert, Partial<PromotionsInsert>>;
    pull_request_checks: Knex.CompositeTableType<PullRequestChecksRow, PullRequestChecksInsert, Partial<PullRequestChecksInsert>>;
    pull_request_comments: Knex.CompositeTableType<PullRequestCommentsRow, PullRequestCommentsInsert, Partial<PullRequestCommentsInsert>>;
    pull_request_reviews: Knex.CompositeTableType<PullRequestReviewsRow, PullRequestReviewsInsert, Partial<PullRequestReviewsInsert>>;
    pull_requests: Knex.CompositeTableType<PullRequestsRow, PullRequestsInsert, Partial<PullRequestsInsert>>;
    repository_activity: Knex.CompositeTableType<RepositoryActivityRow, RepositoryActivityInsert, Partial<RepositoryActivityInsert>>;
    rollouts: Knex.CompositeTableType<RolloutsRow, RolloutsInsert, Partial<RolloutsInsert>>;
    sample_requests: Knex.CompositeTableType<SampleRequestsRow, SampleRequestsInsert, Partial<SampleRequestsInsert>>;
    sample_results: Knex.CompositeTableType<SampleResultsRow, SampleResultsInsert, Partial<SampleResultsInsert>>;
    schema_migrations: Knex.CompositeTableType<SchemaMigrationsRow, SchemaMigrationsInsert, Partial<SchemaMigrationsInsert>>;
    scim_refusals: Knex.CompositeTableType<ScimRefusalsRow, ScimRefusalsInsert, Partial<ScimRefusalsInsert>>;
    scim_settings: Knex.CompositeTableType<ScimSettingsRow, ScimSettingsInsert, Partial<ScimSettingsInsert>>;
    scim_users: Knex.CompositeTableType<ScimUsersRow, ScimUsersInsert, Partial<ScimUsersInsert>>;
    scim_waiting_members: Knex.CompositeTableType<ScimWaitingMembersRow, ScimWaitingMembersInsert, Partial<ScimWaitingMembersInsert>>;
    secrets: Knex.CompositeTableType<SecretsRow, SecretsInsert, Partial<SecretsInsert>>;
    series_readings: Knex.CompositeTableType<SeriesReadingsRow, SeriesReadingsInsert, Partial<SeriesReadingsInsert>>;
    service_accounts: Knex.CompositeTableType<ServiceAccountsRow, ServiceAccountsInsert, Partial<ServiceAccountsInsert>>;
    sessions: Knex.CompositeTableType<SessionsRow, SessionsInsert, Partial<SessionsInsert>>;
    settings: Knex.CompositeTableType<SettingsRow, SettingsInsert, Partial<SettingsInsert>>;
    shared_components: Knex.CompositeTableType<SharedComponentsRow, SharedComponentsInsert, Partial<SharedComponentsInsert>>;
    sign_in_throttles: Knex.CompositeTableType<SignInThrottlesRow, SignInThrottlesInsert, Partial<SignInThrottlesInsert>>;
    sink_hours: Knex.CompositeTableType<SinkHoursRow, SinkHoursInsert, Partial<SinkHoursInsert>>;
    tap_batches: Knex.CompositeTableType<TapBatchesRow, TapBatchesInsert, Partial<TapBatchesInsert>>;
    taps: Knex.CompositeTableType<TapsRow, TapsInsert, Partial<TapsInsert>>;
    team_mapping_patterns: Knex.CompositeTableType<TeamMappingPatternsRow, TeamMappingPatternsInsert, Partial<TeamMappingPatternsInsert>>;
    team_mappings: Knex.CompositeTableType<TeamMappingsRow, TeamMappingsInsert, Partial<TeamMappingsInsert>>;
    team_members: Knex.CompositeTableType<TeamMembersRow, TeamMembersInsert, Partial<TeamMembersInsert>>;
    teams: Knex.CompositeTableType<TeamsRow, TeamsInsert, Partial<TeamsInsert>>;
    templates: Knex.CompositeTableType<TemplatesRow, TemplatesInsert, Partial<TemplatesInsert>>;
    totp_backup_codes: Knex.CompositeTableType<TotpBackupCodesRow, TotpBackupCodesInsert, Partial<TotpBackupCodesInsert>>;
    user_identities: Knex.CompositeTableType<UserIdentitiesRow, UserIdentitiesInsert, Partial<UserIdentitiesInsert>>;
    user_preferences: Knex.CompositeTableType<UserPreferencesRow, UserPreferencesInsert, Partial<UserPreferencesInsert>>;
    users: Knex.CompositeTableType<UsersRow, UsersInsert, Partial<UsersInsert>>;
    vrl_snippets: Knex.CompositeTableType<VrlSnippetsRow, VrlSnippetsInsert, Partial<VrlSnippetsInsert>>;
    webhook_deliveries: Knex.CompositeTableType<WebhookDeliveriesRow, WebhookDeliveriesInsert, Partial<WebhookDeliveriesInsert>>;
    webhook_endpoints: Knex.CompositeTableType<WebhookEndpointsRow, WebhookEndpointsInsert, Partial<WebhookEndpointsInsert>>;
  }
}
