import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import { ownDataDir, withDataDir } from '../engine/config-text.ts';
import type { EnginePorts } from '../engine/engine-ports.ts';
import { renderSidecar } from '../engine/sidecar.ts';
import { ensurePrivateDirectory, type FileToWrite, TEMPORARY_FILE } from '../files/atomic-files.ts';
import type { DataDirectory } from '../files/data-directory.ts';
import { describeWriteError } from '../files/pipeline-files.ts';

/** A config that is not in use, with all that an engine needs to build it, in a folder that is removed afterwards. */
export interface Candidate {
  config: string;
  sidecar: string;
  certificates: string;
  /** Names the real folders where a text names those of the candidate. */
  translate(text: string): string;
  remove(): void;
}

export interface CandidateFiles {
  directory: DataDirectory;
  entry: PipelineEntry;
  /** Those of the running engine, so that a port that the config claims twice is found. */
  ports: EnginePorts;
  /** Certificate files with their paths in the real folder. */
  certificateFiles: readonly FileToWrite[];
}

let count = 0;

/**
 * Writes it: files 0600 in a folder 0700, no secrets. The data folder is a new one, so that nothing of the running
 * engine is touched or locked; it is on the same disk, so that the sizes of buffers are compared with the right one.
 * Throws an Error that says which file could not be written.
 */
export function writeCandidate({ directory, entry, ports, certificateFiles }: CandidateFiles): Candidate {
  count += 1;
  const folder = join(directory.checks, `${entry.pipelineId}.${count}`);
  const data = join(folder, 'data');
  const certificates = join(folder, 'certs');
  const config = join(folder, 'pipeline.yaml');
  const sidecar = join(folder, 'sidecar.yaml');
  const remove = () => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // A process that is just being killed may still write there. The next start of the agent removes it.
    }
  };
  const configYaml = withDataDir(entry.configYaml, data).replaceAll(
    `${directory.certs}/`,
    `${certificates}/`,
  );
  let name = directory.config(entry.pipelineId);
  try {
    for (const path of [directory.data, directory.checks, directory.engineData(entry.pipelineId)])
      ensurePrivateDirectory(path);
    for (const path of [folder, data, certificates]) mkdirSync(path, { mode: 0o700 });
    for (const file of certificateFiles) {
      name = file.path;
      create(join(certificates, basename(file.path)), file.data);
    }
    linkOthers(directory.certs, certificates);
    name = directory.sidecar(entry.pipelineId);
    const settings = { metricsPort: ports.metrics, apiPort: ports.api, dataDir: data };
    create(sidecar, renderSidecar({ ...settings, configYaml }));
    name = directory.config(entry.pipelineId);
    create(config, configYaml);
  } catch (error) {
    remove();
    throw new Error(describeWriteError(directory, entry.pipelineId, error, name), { cause: error });
  }
  const realData = ownDataDir(entry.configYaml) || directory.engineData(entry.pipelineId);
  return {
    config,
    sidecar,
    certificates,
    translate: (text) => text.replaceAll(certificates, directory.certs).replaceAll(data, realData),
    remove,
  };
}

function create(path: string, data: string | Buffer): void {
  writeFileSync(path, data, { mode: 0o600, flag: 'wx' });
}

/** A config may name the file of another pipeline, too. */
function linkOthers(from: string, to: string): void {
  let names: string[] = [];
  try {
    names = readdirSync(from).filter((name) => !TEMPORARY_FILE.test(name));
  } catch {
    return;
  }
  const own = new Set(readdirSync(to));
  for (const name of names) if (!own.has(name)) symlinkSync(join(from, name), join(to, name));
}
