import type { Clock } from '../../reconcilers/loops/clock.ts';
import type { SampleRequest } from '../../schemas/agent/protocol.ts';
import type { TapStart, TapStop } from '../link/observe-request.ts';
import type { Logger } from '../log.ts';
import { delivererTo } from './delivery.ts';
import { LiveTaps } from './live-taps.ts';
import { SampleOutbox } from './sample-outbox.ts';
import { Samples } from './samples.ts';
import type { TapTargetParts } from './tap-target.ts';

export interface ObserverOptions extends TapTargetParts {
  /** Of the controller, without a trailing slash. */
  url: string;
  token: string;
  clock: Clock;
  log: Logger;
}

/** Shows the controller events of this node's pipelines, where somebody has asked for them. */
export class Observer {
  readonly #outbox: SampleOutbox;
  readonly #samples: Samples;
  readonly #taps: LiveTaps;

  constructor(options: ObserverOptions) {
    const { url, token, clock, log } = options;
    const deliver = delivererTo(url, token);
    this.#outbox = new SampleOutbox({ clock, log, deliver });
    this.#samples = new Samples({ engines: options, outbox: this.#outbox, clock });
    this.#taps = new LiveTaps({ engines: options, clock, log, deliver });
  }

  /** The same requests may come again on every poll. */
  sample(requests: readonly SampleRequest[]): void {
    for (const request of requests) this.#samples.take(request);
  }

  tap(message: TapStart | TapStop): void {
    if (message.type === 'tap_start') this.#taps.start(message);
    else this.#taps.cancel(message.requestId);
  }

  /** The status of some pipeline is another than before. */
  pipelinesChanged(): void {
    this.#taps.check();
  }

  /** Settles when no tap is left; what was not delivered yet is lost. */
  async stop(): Promise<void> {
    this.#outbox.stop();
    await Promise.all([this.#samples.stop(), this.#taps.stop()]);
  }
}
