/** The files of one pipeline's engine. Each function throws; `describeWriteError` says what of it failed. */
import type { PipelineEntry } from '../../../schemas/agent/protocol.ts';
import type { EnginePorts } from '../engine/engine-ports.ts';
import { quoteSecrets } from '../engine/quoted-secrets.ts';
import { renderSidecar } from '../engine/sidecar.ts';
import {
  ensurePrivateDirectory,
  type FileToWrite,
  WriteError,
  writeFilesAtomically,
} from './atomic-files.ts';
import type { DataDirectory } from './data-directory.ts';

/** Folders, config, sidecar and certificates: all files or none. */
export function writePipelineFiles(
  directory: DataDirectory,
  entry: PipelineEntry,
  ports: EnginePorts,
  certificates: readonly FileToWrite[],
): void {
  const folders = [directory.pipelines, directory.certs, directory.data];
  for (const path of [...folders, directory.engineData(entry.pipelineId)]) ensurePrivateDirectory(path);
  writeFilesAtomically([
    ...certificates,
    sidecarFile(directory, entry, ports),
    { path: directory.config(entry.pipelineId), data: quoteSecrets(entry).configYaml },
  ]);
}

/** For other ports than those that were written before. */
export function writeSidecar(directory: DataDirectory, entry: PipelineEntry, ports: EnginePorts): void {
  writeFilesAtomically([sidecarFile(directory, entry, ports)]);
}

function sidecarFile(directory: DataDirectory, entry: PipelineEntry, ports: EnginePorts): FileToWrite {
  const data = renderSidecar({
    metricsPort: ports.metrics,
    apiPort: ports.api,
    dataDir: directory.engineData(entry.pipelineId),
    configYaml: entry.configYaml,
  });
  return { path: directory.sidecar(entry.pipelineId), data };
}

/** `file` is the one that was being written, where the error does not name it. */
export function describeWriteError(
  directory: DataDirectory,
  pipelineId: string,
  error: unknown,
  file = directory.sidecar(pipelineId),
): string {
  const path = error instanceof WriteError ? error.path : file;
  const names: Record<string, string> = {
    [directory.sidecar(pipelineId)]: 'sidecar config',
    [directory.config(pipelineId)]: 'pipeline config',
  };
  const reason = error instanceof Error ? error.message : String(error);
  return `failed to write ${names[path] ?? 'certificate file'}: ${reason}`;
}
