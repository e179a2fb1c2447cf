/** What a document says it is, before anything else is believed. */

import { didYouMean } from '../../../controller/platform/text/nearest-name.ts';
import { API_VERSION, MANIFEST_KINDS, type ManifestKind } from '../../../schemas/manifests/index.ts';
import type { SpecFinding } from './resolve-spec.ts';

export interface Claim {
  kind: string | null;
  name: string | null;
  uid: string | null;
}

const MAX_NAME = 100;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shortText(value: unknown): string | null {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME ? value : null;
}

/** The object that a document means to declare, as far as it can be read; also of invalid documents. */
export function claimOf(value: unknown): Claim {
  if (!isRecord(value)) return { kind: null, name: null, uid: null };
  const metadata = isRecord(value.metadata) ? value.metadata : {};
  return {
    kind: shortText(value.kind),
    name: shortText(metadata.name),
    uid: shortText(metadata.uid),
  };
}

function isKind(value: unknown): value is ManifestKind {
  return MANIFEST_KINDS.some((kind) => kind === value);
}

export type Header = { kind: ManifestKind; body: Record<string, unknown> } | { refused: SpecFinding };

export function readHeader(value: unknown): Header {
  const refused = (pointer: string, message: string, hint: string): Header => ({
    refused: { stage: 'schema', pointer, message, hint },
  });
  if (!isRecord(value) || (value.apiVersion === undefined && value.kind === undefined)) {
    return refused(
      '',
      'this document is no manifest: it has neither apiVersion nor kind',
      `Begin it with apiVersion: ${API_VERSION} and kind, or name the file in .headgateignore if it is not meant for Headgate.`,
    );
  }
  if (value.apiVersion === undefined) {
    return refused('', '`apiVersion` is required', `Write apiVersion: ${API_VERSION}.`);
  }
  if (value.apiVersion !== API_VERSION) {
    return refused(
      '/apiVersion',
      `\`apiVersion\` must be ${API_VERSION}`,
      'If the file is meant for another program, name it in .headgateignore.',
    );
  }
  const kind = value.kind;
  if (isKind(kind)) return { kind, body: value };
  const known = `Known kinds: ${MANIFEST_KINDS.join(', ')}.`;
  if (kind === undefined) return refused('', '`kind` is required', known);
  if (typeof kind !== 'string') return refused('/kind', '`kind` must be text', known);
  return refused(
    '/kind',
    `\`${kind.slice(0, 100)}\` is not a known kind`,
    didYouMean(kind, MANIFEST_KINDS, known),
  );
}
