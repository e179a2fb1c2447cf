/** One version of a pipeline as agents get it, with its secrets and certificate files. */
import { createHash } from 'node:crypto';
import type { CertFile, PipelineEntry } from '../../../schemas/agent/protocol.ts';
import { type DeployedConfig, servedYaml } from '../../pipelines/index.ts';
import { type CertificateFile, certificateReferences } from '../../secrets/certificates/index.ts';
import { escapeForVrl, secretReferences, vrlReferences, vrlVariable } from '../../secrets/index.ts';

export interface Rendered {
  config: DeployedConfig;
  json: string;
  checksum: string;
}

/**
 * Renders a pipeline with only the secrets and certificate files that it names. A named one that is missing fails the
 * rendering.
 */
export function render(
  config: DeployedConfig,
  secrets: ReadonlyMap<string, () => string>,
  certificates: ReadonlyMap<string, CertificateFile>,
): Rendered {
  const named = secretReferences(config.configYaml).flatMap(({ variable, optional }): [string, string][] => {
    const open = secrets.get(variable);
    if (open) return [[variable, open()]];
    if (optional) return [];
    throw new Error(`pipeline ${config.pipelineId} needs ${variable}, which is missing`);
  });
  const values = new Map(named);
  const configYaml = servedYaml(config.configYaml, values);
  for (const variable of vrlReferences(configYaml)) {
    const value = values.get(variable);
    if (value !== undefined) named.push([vrlVariable(variable), escapeForVrl(value)]);
  }
  const certFiles = certificateReferences(config.configYaml).map((filename): CertFile => {
    const file = certificates.get(filename);
    if (file) return { name: file.name, filename, data: file.open() };
    throw new Error(`pipeline ${config.pipelineId} needs the certificate file ${filename}, which is missing`);
  });
  const drain = config.drainSeconds === null ? {} : { drainSeconds: config.drainSeconds };
  // Without the setting the checksum equals that of versions before the setting existed, so an upgrade restarts nothing.
  const optional = config.drainSeconds === null ? [] : [config.drainSeconds];
  const checksum = `sha256:${createHash('sha256')
    .update(JSON.stringify([configYaml, named, config.logLevel, certFiles, ...optional]))
    .digest('hex')}`;
  const entry: PipelineEntry = {
    pipelineId: config.pipelineId,
    pipelineName: config.pipelineName,
    version: config.version,
    configYaml,
    checksum,
    logLevel: config.logLevel,
    secrets: Object.fromEntries(named),
    certFiles,
    ...drain,
  };
  return { config, json: JSON.stringify(entry), checksum };
}
