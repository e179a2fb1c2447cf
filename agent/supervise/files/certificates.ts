import { join } from 'node:path';
import type { CertFile, PipelineEntry } from '../../../schemas/agent/protocol.ts';
import { CERT_FILENAME } from '../../limits.ts';
import { type FileToWrite, removeFile } from './atomic-files.ts';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export interface CertificatePlan {
  write: FileToWrite[];
  /** One sentence for each file that is not written. The others are. */
  refused: string[];
}

/**
 * All pipelines share one folder of certificate files. Two may use the same file; where they want different content
 * under one name, the first in the controller's list gets it; the report of the other one says so.
 */
export class Certificates {
  readonly #folder: string;
  #claims = new Map<string, { data: string; pipelineId: string }>();
  readonly #written = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Takes the whole of what is wanted, so that a changed certificate of several pipelines is no clash. Files of `inUse`
   * stay: an engine may be started with them again.
   */
  claim(pipelines: readonly PipelineEntry[], inUse: readonly PipelineEntry[] = []): void {
    this.#claims = new Map();
    for (const { pipelineId, certFiles } of pipelines) {
      for (const { filename, data } of certFiles) {
        if (!this.#claims.has(filename)) this.#claims.set(filename, { data, pipelineId });
      }
    }
    this.release(inUse);
  }

  /** Removes the files that were written and that nobody wants or uses. */
  release(inUse: readonly PipelineEntry[]): void {
    const used = new Set(inUse.flatMap(({ certFiles }) => certFiles.map(({ filename }) => filename)));
    for (const filename of this.#written) {
      if (this.#claims.has(filename) || used.has(filename)) continue;
      removeFile(join(this.#folder, filename));
      this.#written.delete(filename);
    }
  }

  plan(pipeline: PipelineEntry): CertificatePlan {
    const write: FileToWrite[] = [];
    const refused: string[] = [];
    for (const file of pipeline.certFiles) {
      const reason = this.#objection(file, pipeline.pipelineId);
      if (reason)
        refused.push(`certificate file ${JSON.stringify(file.filename.slice(0, 80))} refused: ${reason}`);
      else write.push({ path: join(this.#folder, file.filename), data: Buffer.from(file.data, 'base64') });
    }
    return { write, refused };
  }

  wrote(plan: CertificatePlan): void {
    for (const { path } of plan.write) this.#written.add(path.slice(this.#folder.length + 1));
  }

  #objection({ filename, data }: CertFile, pipelineId: string): string | undefined {
    if (!CERT_FILENAME.test(filename)) return 'its name must be letters, digits, dot, dash and underscore';
    if (!BASE64.test(data.replace(/\s/g, ''))) return 'its content is not base64';
    const claim = this.#claims.get(filename);
    // Its own claim is other content where it is started again with what it ran with before.
    if (claim && claim.data !== data && claim.pipelineId !== pipelineId)
      return `pipeline ${claim.pipelineId} has other content under that name`;
    return undefined;
  }
}
