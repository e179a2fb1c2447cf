/** Rules for `<filter>`, by plugin. */
import type { Rules } from '../rule.ts';
import { concatRule } from './concat.ts';
import { grepRule } from './grep.ts';
import { kubernetesMetadataRule } from './kubernetes.ts';
import {
  dedotRule,
  flattenHashRule,
  genidRule,
  geoipRule,
  prometheusFilterRule,
  stdoutFilterRule,
  throttleRule,
  typecastRule,
  urlDecodeRule,
  userAgentRule,
} from './other-filters.ts';
import { parserFilterRule } from './parser.ts';
import { recordModifierRule, recordTransformerRule } from './record-transformer.ts';

export const FILTER_RULES: Rules = {
  concat: concatRule,
  dedot: dedotRule,
  elasticsearch_genid: genidRule,
  flatten_hash: flattenHashRule,
  genhashvalue: genidRule,
  geoip: geoipRule,
  grep: grepRule,
  kubernetes_metadata: kubernetesMetadataRule,
  opensearch_genid: genidRule,
  parser: parserFilterRule,
  prometheus: prometheusFilterRule,
  record_modifier: recordModifierRule,
  record_transformer: recordTransformerRule,
  stdout: stdoutFilterRule,
  throttle: throttleRule,
  typecast: typecastRule,
  ua_parser: userAgentRule,
  url_decode: urlDecodeRule,
};
