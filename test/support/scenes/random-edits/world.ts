/** What somebody has in the config repository: files of documents, as values that edits change and that render to text. */
import { Document, type YAMLMap } from 'yaml';
import { KINDS } from '../../../../reconcilers/kinds/index.ts';
import { PRODUCTION } from '../config-repository.ts';

export type EditedKind = 'Pipeline' | 'AlertRule' | 'NodeGroup' | 'Silence' | 'WebhookEndpoint';
const EVERY_KIND: readonly EditedKind[] = [
  'Pipeline',
  'AlertRule',
  'NodeGroup',
  'Silence',
  'WebhookEndpoint',
];
/** Those that the reconciler acts on. */
export const EDITED_KINDS = EVERY_KIND.filter((kind) => KINDS.has(kind));

export const DOCUMENT_FAULTS = ['schema', 'dangling input', 'missing $file', 'unknown secret'] as const;
export type DocumentFault = (typeof DOCUMENT_FAULTS)[number];
export const FILE_FAULTS = ['YAML error', 'merge markers'] as const;
export type FileFault = (typeof FILE_FAULTS)[number];

export interface Doc {
  kind: EditedKind;
  name: string;
  uid: string | null;
  previousName: string | null;
  labels: Record<string, string>;
  prune: 'auto' | 'confirm' | 'never';
  /** Equal numbers are equal specs, the fields below aside. */
  variant: number;
  deployed: boolean;
  suspend: boolean;
  /** Reads the shared file. */
  includes: boolean;
  /** `dependsOn` of a pipeline; the first is `pipelineRef` of an alert rule. */
  refs: string[];
  /** What nobody but a reader of the file sees: a comment, the order of the keys, the editor's data. */
  comment: number;
  reversed: boolean;
  position: number | null;
  fault: DocumentFault | null;
}

export interface ManifestFile {
  path: string;
  docs: Doc[];
  fault: FileFault | null;
}

export interface World {
  files: ManifestFile[];
  /** What the shared file says. */
  shared: number;
  /** A file in the folder of the environment that is no manifest. */
  readme: boolean;
}

export const emptyWorld = (): World => ({ files: [], shared: 0, readme: false });

export function newDoc(kind: EditedKind, name: string, more: Partial<Doc> = {}): Doc {
  return {
    kind,
    name,
    uid: null,
    previousName: null,
    labels: {},
    prune: 'auto',
    variant: 0,
    deployed: true,
    suspend: false,
    includes: false,
    refs: [],
    comment: 0,
    reversed: false,
    position: null,
    fault: null,
    ...more,
  };
}

export const docsOf = (world: World): Doc[] => world.files.flatMap((file) => file.docs);

const SHARED_FILE = 'shared/notes.md';
/** Folders are a convention: any kind may lie in any. All are equally deep, for the sake of `$file`. */
export const FOLDERS = ['pipelines', 'alerts', 'more'] as const;
export const filePath = (folder: string, name: string) => `${PRODUCTION.path}/${folder}/${name}.yaml`;

/** Every file of the commit, by path. */
export function render(world: World): Map<string, string> {
  const files = new Map<string, string>([
    ['README.md', 'What runs where.\n'],
    [SHARED_FILE, `Note ${world.shared}.\n`],
  ]);
  if (world.readme) files.set(`${PRODUCTION.path}/README.md`, 'Nothing here.\n');
  for (const file of world.files) files.set(file.path, fileText(file));
  return files;
}

function fileText({ docs, fault }: ManifestFile): string {
  const text = docs.map(documentText).join('---\n');
  if (fault === 'YAML error') return `${text}  : [\n`;
  if (fault === 'merge markers') return `<<<<<<< HEAD\n${text}=======\n${text}>>>>>>> theirs\n`;
  return text;
}

function documentText(doc: Doc): string {
  const metadata = {
    name: doc.name,
    ...(doc.uid === null ? {} : { uid: doc.uid }),
    ...(doc.previousName === null ? {} : { previousName: doc.previousName }),
    ...(Object.keys(doc.labels).length === 0 ? {} : { labels: doc.labels }),
    ...(doc.prune === 'auto' ? {} : { annotations: { 'headgate/prune': doc.prune } }),
  };
  const spec = { ...SPECS[doc.kind](doc), ...(doc.fault === 'schema' ? { misspelt: true } : {}) };
  const manifest = new Document({ apiVersion: 'headgate/v1', kind: doc.kind, metadata, spec });
  if (doc.comment > 0) manifest.commentBefore = ` Looked at ${doc.comment} times.`;
  if (doc.reversed) for (const at of [[], ['metadata'], ['spec']]) reverse(manifest, at);
  return manifest.toString();
}

function reverse(document: Document, at: readonly string[]): void {
  const map = (at.length === 0 ? document.contents : document.getIn(at)) as YAMLMap | null;
  map?.items.reverse();
}

/** By kind: everything but the text around it. */
const SPECS: Record<EditedKind, (doc: Doc) => object> = {
  Pipeline: (doc) => ({
    description: descriptionOf(doc),
    ...(doc.variant % 2 === 1 ? { nodeSelector: { role: 'edge' }, logLevel: 'debug' } : {}),
    ...(doc.deployed ? {} : { deployed: false }),
    ...(doc.suspend ? { suspend: true } : {}),
    ...(doc.refs.length > 0 ? { dependsOn: doc.refs } : {}),
    sources: { ticks: { type: 'demo_logs', format: 'json', interval: 1 + doc.variant } },
    sinks: {
      out: {
        type: 'blackhole',
        inputs: [doc.fault === 'dangling input' ? 'nowhere' : 'ticks'],
        ...secretOf(doc),
      },
    },
    ...(doc.position === null ? {} : { components: { ticks: { position: [doc.position, 0] } } }),
  }),
  AlertRule: (doc) => ({
    ...(doc.refs[0] === undefined ? {} : { pipelineRef: doc.refs[0] }),
    ...(doc.fault === 'dangling input' ? { pipelineRef: 'nowhere' } : {}),
    metric: 'error_rate',
    condition: doc.variant % 2 === 1 ? 'lt' : 'gt',
    threshold: doc.variant,
    ...(doc.deployed ? {} : { enabled: false }),
  }),
  NodeGroup: (doc) => ({
    criteria: { role: `role-${doc.variant}` },
    ...(doc.deployed ? {} : { labelTemplate: { ring: '1' } }),
    ...(doc.variant % 2 === 1 ? { requiredLabels: ['owner'] } : {}),
  }),
  // Ended ones: what is written must not depend on the day of the test.
  Silence: (doc) => ({
    matchers: { rack: `r${doc.variant}` },
    reason: doc.deployed ? 'disks are replaced' : 'cables are replaced',
    ...(doc.variant % 2 === 1 ? { startsAt: '2020-01-01T00:00:00+01:00' } : {}),
    endsAt: `2020-01-0${2 + doc.variant}T12:00:00Z`,
  }),
  WebhookEndpoint: (doc) => ({
    ...(doc.variant % 2 === 1
      ? { url: 'mailto:on-call@example.com', format: 'email', eventTypes: ['cpu_usage', 'disk_usage'] }
      : { url: `https://example.com/in/${doc.variant}`, format: 'standard', headers: { 'X-Team': 'web' } }),
    ...(doc.deployed ? {} : { enabled: false }),
  }),
};

function descriptionOf({ includes, fault, variant }: Doc): object | string {
  if (fault === 'missing $file') return { $file: `../../../shared/gone.md` };
  return includes ? { $file: `../../../${SHARED_FILE}` } : `variant ${variant}`;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret as it is written in a manifest
const UNKNOWN_SECRET = { note: '${SVC_SECRET_NOT_THERE}' };
const secretOf = ({ fault }: Doc) => (fault === 'unknown secret' ? UNKNOWN_SECRET : {});
