/** Rules for `<source>`, by plugin. */
import type { Rules } from '../rule.ts';
import { forwardRule, httpRule, syslogRule, tcpRule, udpRule } from './network.ts';
import {
  execRule,
  kafkaSourceRule,
  s3SourceRule,
  sampleRule,
  selfRule,
  systemdRule,
  unixRule,
} from './other-sources.ts';
import { tailRule } from './tail.ts';

export const SOURCE_RULES: Rules = {
  debug_agent: selfRule,
  dummy: sampleRule,
  exec: execRule,
  forward: forwardRule,
  gc_stat: selfRule,
  http: httpRule,
  kafka: kafkaSourceRule,
  kafka_group: kafkaSourceRule,
  monitor_agent: selfRule,
  object_space: selfRule,
  prometheus: selfRule,
  prometheus_monitor: selfRule,
  prometheus_output_monitor: selfRule,
  prometheus_tail_monitor: selfRule,
  rdkafka_group: kafkaSourceRule,
  s3: s3SourceRule,
  sample: sampleRule,
  syslog: syslogRule,
  systemd: systemdRule,
  tail: tailRule,
  tcp: tcpRule,
  udp: udpRule,
  unix: unixRule,
};
