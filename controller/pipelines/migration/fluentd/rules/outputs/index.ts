/** Rules for `<match>` and `<store>`, by plugin. */
import type { Section } from '../../section/section.ts';
import type { Draft } from '../draft.ts';
import { recordTransformerRule } from '../filters/record-transformer.ts';
import { azureBlobRule, fileRule, gcsRule, nullRule, s3Rule, stdoutRule } from './files.ts';
import { forwardOutputRule } from './forward.ts';
import { httpOutputRule, lokiRule, splunkRule } from './requests.ts';
import { detectExceptionsRule, relabelRule, retagRule, rewriteTagRule } from './routing.ts';
import { searchRule } from './search.ts';
import {
  countingRule,
  gelfRule,
  influxRule,
  logAnalyticsRule,
  redisRule,
  remoteSyslogRule,
  sqsRule,
} from './servers.ts';
import { datadogRule, googleCloudRule, newRelicRule, postingRule, pubsubRule } from './services.ts';
import { cloudwatchRule, kafkaRule, kinesisRule } from './streams.ts';

/** `prefix` names the pieces of one `<store>` among several. */
type OutputRule = (section: Section, draft: Draft, prefix?: string) => void;

export const OUTPUT_RULES: Readonly<Record<string, OutputRule>> = {
  'aws-elasticsearch-service': searchRule,
  'azure-loganalytics': logAnalyticsRule,
  azurestorage: azureBlobRule,
  'azure-storage-append-blob': azureBlobRule,
  azure_loganalytics: logAnalyticsRule,
  cloudwatch_logs: cloudwatchRule,
  copy: copyRule,
  datadog: datadogRule,
  detect_exceptions: detectExceptionsRule,
  elasticsearch: searchRule,
  elasticsearch_data_stream: searchRule,
  elasticsearch_dynamic: searchRule,
  file: fileRule,
  flowcounter: countingRule,
  flowcounter_simple: countingRule,
  forward: forwardOutputRule,
  gcloud_pubsub: pubsubRule,
  gcs: gcsRule,
  gelf: gelfRule,
  google_cloud: googleCloudRule,
  http: httpOutputRule,
  influxdb: influxRule,
  influxdb2: influxRule,
  kafka: kafkaRule,
  kafka2: kafkaRule,
  kafka_buffered: kafkaRule,
  kinesis_firehose: kinesisRule,
  kinesis_streams: kinesisRule,
  kinesis_streams_aggregated: kinesisRule,
  logzio: postingRule,
  logzio_buffered: postingRule,
  loki: lokiRule,
  newrelic: newRelicRule,
  null: nullRule,
  opensearch: searchRule,
  opensearch_data_stream: searchRule,
  prometheus: countingRule,
  rdkafka: kafkaRule,
  rdkafka2: kafkaRule,
  record_reformer: recordReformerRule,
  redis: redisRule,
  relabel: relabelRule,
  remote_syslog: remoteSyslogRule,
  retag: retagRule,
  rewrite_tag_filter: rewriteTagRule,
  roundrobin: roundrobinRule,
  route: retagRule,
  s3: s3Rule,
  secure_forward: forwardOutputRule,
  slack: postingRule,
  splunk_hec: splunkRule,
  'splunk-http-eventcollector': splunkRule,
  sqs: sqsRule,
  stdout: stdoutRule,
  sumologic: postingRule,
};

/** A copy has one target for each `<store>`; the pieces of each are named by it. */
function copyRule(section: Section, draft: Draft, prefix = ''): void {
  section.ignore('deep_copy', 'copy_mode');
  const stores = section.children('store');
  if (stores.length === 0) draft.open('There is no <store>.', section.line);
  const used = new Map<string, number>();
  for (const store of stores) {
    const plugin = store.plugin;
    const count = (used.get(plugin) ?? 0) + 1;
    used.set(plugin, count);
    const name = plugin.replace(/[^A-Za-z0-9]+/g, '_') + (count > 1 ? String(count) : '');
    applyOutput(store, draft, prefix === '' ? name : `${prefix}_${name}`);
    if (store.directive.argument === 'ignore_error') {
      draft.info(
        'The targets of a copy do not disturb one another here; ignore_error is not needed.',
        store.line,
      );
    }
  }
}

/** Only the first store gets events: the engine shares them out in no sink. */
function roundrobinRule(section: Section, draft: Draft, prefix = ''): void {
  const [first, ...more] = section.children('store');
  if (!first) {
    draft.open('There is no <store>.', section.line);
    return;
  }
  for (const store of more) store.ignoreAll();
  first.ignore('weight');
  applyOutput(first, draft, prefix);
  if (more.length > 0)
    draft.difference(
      'All events go to the first store; put a load balancer before several.',
      section.line,
      'large',
    );
}

/** `record_reformer` is a record_transformer whose events get another tag. */
function recordReformerRule(section: Section, draft: Draft, prefix = ''): void {
  const name = prefix === '' ? 'record' : `${prefix}_record`;
  section.ignore('output_tag', 'renew_record');
  recordTransformerRule(section, draft, name);
  retagRule(section, draft, prefix, [name]);
}

export function applyOutput(section: Section, draft: Draft, prefix = ''): void {
  const rule = Object.hasOwn(OUTPUT_RULES, section.plugin) ? OUTPUT_RULES[section.plugin] : undefined;
  if (rule) rule(section, draft, prefix);
  else draft.open(`No rule knows the output ${section.plugin || 'without @type'}.`, section.line);
}
