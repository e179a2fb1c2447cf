/** What every Vector has, for where there is no engine to ask: names without options. */
import type { ComponentKind, KnownComponent } from './schema-components.ts';

const TABLE: Record<ComponentKind, string> = {
  SOURCE: `
    aws_s3: AWS S3: Collects logs from S3 by the notifications of a queue.
    datadog_agent: Datadog Agent: Takes logs, metrics and traces from Datadog agents.
    demo_logs: Demo Logs: Makes log lines up, for trying things out.
    docker_logs: Docker Logs: Collects the logs of containers.
    exec: Exec: Collects what a process prints.
    file: File: Follows files.
    fluent: Fluent: Takes logs from Fluentd and Fluent Bit.
    host_metrics: Host Metrics: Reads CPU, memory, load, disks, file systems and network of the host.
    http_client: HTTP Client: Asks HTTP servers for data.
    http_server: HTTP Server: Takes events by HTTP requests.
    internal_logs: Internal Logs: Gives the engine's own log.
    internal_metrics: Internal Metrics: Gives the engine's own counters.
    journald: JournalD: Collects logs from the journal.
    kafka: Kafka: Consumes topics.
    kubernetes_logs: Kubernetes Logs: Collects the logs of pods.
    logstash: Logstash: Takes logs from Logstash.
    nats: NATS: Subscribes to a subject.
    opentelemetry: OpenTelemetry: Takes OTLP by gRPC and HTTP.
    prometheus_scrape: Prometheus Scrape: Collects metrics from exporters.
    redis: Redis: Collects from a list or a channel.
    socket: Socket: Takes logs by TCP, UDP or a Unix socket.
    splunk_hec: Splunk HEC: Takes logs in the form of the HTTP Event Collector.
    statsd: StatsD: Takes metrics from StatsD.
    stdin: STDIN: Makes an event of each line of the standard input.
    syslog: Syslog: Takes logs in the form of syslog.
    vector: Vector: Takes events from another Vector.`,
  TRANSFORM: `
    aggregate: Aggregate: Gathers metrics over a time.
    dedupe: Dedupe: Drops an event whose fields are those of one that passed not long ago.
    exclusive_route: Exclusive Route: Sends each event to the first output whose condition is true.
    filter: Filter: Passes the events for which the condition is true.
    log_to_metric: Log to Metric: Makes metrics of logs.
    lua: Lua: Changes events by a Lua program.
    metric_to_log: Metric to Log: Makes logs of metrics.
    reduce: Reduce: Makes one event of several.
    remap: Remap with VRL: Changes events by a program in the Vector Remap Language.
    route: Route: Sends each event to every output whose condition is true.
    sample: Sample: Passes a share of the events.
    tag_cardinality_limit: Tag Cardinality Limit: Bounds the values of the tags of metrics.
    throttle: Throttle: Passes so many events in a time.`,
  SINK: `
    aws_cloudwatch_logs: AWS CloudWatch Logs: Sends logs to CloudWatch.
    aws_s3: AWS S3: Stores events in S3.
    azure_blob: Azure Blob Storage: Stores events as blobs.
    blackhole: Blackhole: Counts events and forgets them.
    clickhouse: ClickHouse: Inserts events into a table.
    console: Console: Writes events to the standard output.
    datadog_logs: Datadog Logs: Sends logs to Datadog.
    elasticsearch: Elasticsearch: Indexes events.
    file: File: Appends events to files.
    gcp_cloud_storage: GCP Cloud Storage: Stores events in a bucket.
    http: HTTP: Sends events in batches to an HTTP server.
    kafka: Kafka: Produces to a topic.
    loki: Loki: Sends logs to Loki.
    nats: NATS: Publishes to a subject.
    opentelemetry: OpenTelemetry: Sends OTLP.
    prometheus_exporter: Prometheus Exporter: Answers requests for metrics.
    prometheus_remote_write: Prometheus Remote Write: Writes metrics to a Prometheus.
    redis: Redis: Writes to a list or a channel.
    socket: Socket: Sends logs by TCP, UDP or a Unix socket.
    splunk_hec_logs: Splunk HEC Logs: Sends logs to the HTTP Event Collector.
    vector: Vector: Sends events to another Vector.`,
};

export const KNOWN_COMPONENTS: readonly KnownComponent[] = (Object.keys(TABLE) as ComponentKind[]).flatMap(
  (kind) =>
    TABLE[kind]
      .trim()
      .split('\n')
      .map((line) => {
        const [type = '', title = '', description = ''] = line.trim().split(': ');
        return { kind, type, title, description };
      }),
);
