import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { HeartbeatRequest, HeartbeatResponse } from '../../schemas/agent/protocol.ts';
import { type HeartbeatOutcome, sendHeartbeat } from '../link/send-heartbeat.ts';
import type { Logger } from '../log.ts';
import type { Pipeline } from '../supervise/lifecycle/pipeline.ts';
import { HeartbeatBuilder } from './heartbeat-body.ts';
import type { Scraper } from './scraper.ts';
import type { SelfMetrics } from './self-metrics.ts';

export interface HeartbeatSenderOptions {
  url: string;
  token: string;
  scraper: Scraper;
  metrics: SelfMetrics;
  clock: Clock;
  log: Logger;
  pipelines: () => Pipeline[];
  pollIntervalMs: () => number;
  /** What is reported of the node itself. */
  node: () => Omit<HeartbeatRequest, 'pipelines'>;
  onFailed: (failure: HeartbeatOutcome & { type: 'failed' }) => void;
  /** The controller has it. `stopped`: pipelines that it knows to have ended. */
  onDelivered: (reply: HeartbeatResponse, stopped: Pipeline[]) => void;
}

const DRAIN_REPORT_MS = 5_000;

/** Builds one heartbeat and sends it. `HeartbeatSchedule` decides when. */
export class HeartbeatSender {
  readonly #options: HeartbeatSenderOptions;
  readonly #builder = new HeartbeatBuilder();
  /** The controller said so with its last answer. */
  #mayOmitEmpty = false;

  constructor(options: HeartbeatSenderOptions) {
    this.#options = options;
  }

  /** Engines may take minutes to deliver what they hold: heartbeats report it meanwhile. */
  async sendDuring(work: Promise<void>, timeoutMs: number): Promise<void> {
    const { clock, log } = this.#options;
    let over = false;
    let cancel = () => {};
    const schedule = () => {
      cancel = clock.after(DRAIN_REPORT_MS, () => {
        this.send(timeoutMs)
          .catch((error: unknown) => log.error('heartbeat failed unexpectedly', { reason: String(error) }))
          .finally(() => {
            if (!over) schedule();
          });
      });
    };
    schedule();
    await work;
    over = true;
    cancel();
  }

  async send(timeoutMs?: number): Promise<void> {
    const { url, token, scraper, metrics, clock, log } = this.#options;
    const pipelines = this.#options.pipelines();
    const stopped = pipelines.filter((pipeline) => pipeline.ended);
    const periodMs = this.#options.pollIntervalMs();
    const { body, delivered } = this.#builder.build(
      pipelines,
      (pipeline) => scraper.latest(pipeline, periodMs),
      this.#options.node(),
      { omitEmpty: this.#mayOmitEmpty },
    );
    const startedAt = clock.monotonic();
    const outcome = await sendHeartbeat(url, token, body, timeoutMs);
    metrics.heartbeatSeconds = (clock.monotonic() - startedAt) / 1000;
    if (outcome.type === 'failed') {
      metrics.heartbeatErrors += 1;
      log.debug('heartbeat failed', { reason: outcome.reason });
      this.#options.onFailed(outcome);
      return;
    }
    delivered();
    this.#mayOmitEmpty = outcome.reply.mayOmitEmpty === true;
    for (const { pipelineId, reason } of outcome.reply.rejected ?? []) {
      log.warn('the controller refused a part of the heartbeat', {
        pipeline: pipelineId.slice(0, 80),
        reason,
      });
    }
    this.#options.onDelivered(outcome.reply, stopped);
  }
}
