/** The passes over one environment as its controller runs them: one at a time, with what the last ones have left. */
import { findBinding } from '../../../../controller/delivery/bindings/index.ts';
import { DomainError } from '../../../../controller/platform/operation/errors.ts';
import { type PassOptions, type PassResult, runPass } from '../../../../reconcilers/git/pass.ts';
import { createPassMemory, type PassMemory } from '../../../../reconcilers/git/read/pass-memory.ts';
import { manualClock } from '../../../../reconcilers/loops/clock.ts';
import { createRunLoop, type RunLoop } from '../../../../reconcilers/loops/run-loop.ts';
import type { BoundEnvironment } from '../bound-environment.ts';

type Fence = NonNullable<PassOptions['ctx']['fence']>;
type Asked = Partial<Pick<PassOptions, 'trigger' | 'signal' | 'batch'>> & { fence?: Fence };

export class Controller {
  readonly env: BoundEnvironment;
  /** Fails are tried again when somebody asks, for its clock stands. */
  readonly loop: RunLoop<PassResult>;
  #memory: PassMemory = createPassMemory();

  constructor(env: BoundEnvironment) {
    this.env = env;
    this.loop = createRunLoop({
      name: 'random edits',
      clock: manualClock(),
      reconcile: (_key, { signal, triggers }) =>
        this.#run({ signal, trigger: triggers.join(', ') }, this.#memory),
    });
  }

  async pass(): Promise<PassResult> {
    await this.loop.idle();
    return this.#run({}, this.#memory);
  }

  /** As where leadership goes round: what this one remembers is void afterwards. */
  async threeAtOnce(): Promise<void> {
    await this.loop.idle();
    const passes = Array.from({ length: 3 }, () => this.#run({}, createPassMemory()));
    await Promise.allSettled(passes);
    this.#memory = createPassMemory();
  }

  /** Ends at the transaction of the given number, from 1: by its signal, or because another controller leads. */
  async endedPass(how: 'stopped pass' | 'fenced pass', at: number): Promise<void> {
    await this.loop.idle();
    const stop = new AbortController();
    let begun = 0;
    const fence: Fence = async () => {
      begun += 1;
      if (begun !== at) return;
      if (how === 'fenced pass') throw new DomainError('UNAVAILABLE', 'another controller leads');
      stop.abort(new Error('the deadline'));
    };
    await this.#run({ signal: stop.signal, fence, batch: 2 }, this.#memory).catch(() => {});
  }

  /** Begins a pass and aborts it wherever it is after a question to the database. */
  async forgottenPass(): Promise<void> {
    this.loop.wake('binding', 'a file event');
    await this.env.binding();
    this.loop.forget('binding');
  }

  async #run({ fence, trigger = 'timer', ...asked }: Asked, memory: PassMemory): Promise<PassResult> {
    const { scene, id, repository } = this.env;
    const signal = asked.signal ?? new AbortController().signal;
    const binding = await findBinding(scene.db, id);
    if (!binding) throw new Error('the environment is not bound');
    return runPass({
      ...asked,
      ctx: scene.context(id, { signal, ...(fence ? { fence } : {}) }),
      execute: scene.execute,
      binding,
      repository: repository.repo,
      cache: repository.cache,
      trigger,
      signal,
      memory,
    });
  }
}
