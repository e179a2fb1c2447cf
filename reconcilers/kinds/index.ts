import type { ManifestKind } from '../../schemas/manifests/index.ts';
import type { Kind } from './kind.ts';
import { pipelineKind } from './pipeline.ts';

export type { ApplyResult, CheckContext, CheckResult, Kind } from './kind.ts';

/** The kinds that are acted on. The others are read and checked, and wait. */
export const KINDS: ReadonlyMap<ManifestKind, Kind> = new Map([[pipelineKind.kind, pipelineKind]]);
