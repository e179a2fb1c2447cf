import type { PipelineEntry, RefusedVersion } from '../../../schemas/agent/protocol.ts';
import type { EngineDiagnosis } from '../../report/engine-diagnosis.ts';

/** Characters of `lastError`. */
const ERROR_CHARS = 4096;

/** What is wrong with one pipeline, as its report says it. Each part is cleared by whatever mends it. */
export class PipelineErrors {
  /** What could not be written; gone once it is, or something else is wanted. */
  unwritten: string | undefined;
  /** What hinders the next start; gone with it. */
  startError: string | undefined;
  /** Why the engine refused to build what is wanted; gone once it builds it, or something else is wanted. */
  refusal: string | undefined;
  /** How the engine last ended unasked; kept until other content runs. */
  lastExit: { text: string; diagnosis: EngineDiagnosis } | undefined;
  /** Certificate files and secrets that were left out. */
  warnings: string[] = [];

  /** The wanted version, where the engine of this node does not build it and an older one is kept. */
  refused(wanted: PipelineEntry): RefusedVersion | undefined {
    if (this.refusal === undefined) return undefined;
    const { version, checksum } = wanted;
    return { version, checksum: checksum.slice(0, 128), error: this.refusal };
  }

  /** Why the engine ended or could not start, and which certificate files or secrets were refused. */
  text(wanted: PipelineEntry, running: PipelineEntry | undefined, alive: boolean): string | null {
    const exit = this.lastExit;
    const cause = exit?.diagnosis.cause;
    const ended = exit && cause ? `${exit.text}: ${cause}` : exit?.text;
    const refusal = this.#refusalText(wanted, running, alive);
    const text = [refusal, this.unwritten, this.startError, ended, ...this.warnings]
      .filter((part) => part !== undefined)
      .join('; ');
    return text === '' ? null : text.slice(0, ERROR_CHARS);
  }

  #refusalText(
    wanted: PipelineEntry,
    running: PipelineEntry | undefined,
    alive: boolean,
  ): string | undefined {
    const refused = this.refused(wanted);
    if (!refused) return undefined;
    // A version number stays where only secrets, the log level or certificate files are others.
    const same = running === undefined || running.version === refused.version;
    const kept = same ? 'what ran before' : `version ${running?.version}`;
    const goesOn = alive ? 'goes on running' : 'is kept';
    return `version ${refused.version} refused by the engine of this node, ${kept} ${goesOn}: ${refused.error}`;
  }
}
