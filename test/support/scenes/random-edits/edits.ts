/** What people do to a repository, a function each: it changes the world that it is given and says what it did. */
import {
  DOCUMENT_FAULTS,
  type Doc,
  docsOf,
  EDITED_KINDS,
  type EditedKind,
  FILE_FAULTS,
  FOLDERS,
  filePath,
  type ManifestFile,
  newDoc,
  type World,
} from './world.ts';

/** Numbers that an edit reads as it likes, so that an edit stays possible when those before it are taken out. */
export interface Choice {
  a: number;
  b: number;
  c: number;
  /** A uid that nothing else in the sequence has. */
  fresh: string;
}
type Edit = (world: World, choice: Choice) => string;

const NAMES = ['web', 'Orders', 'audit log', 'edge-in', 'metrics_2', 'checkout'];

const pick = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];
const sameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
const said = ({ kind, name }: Doc) => `${kind} "${name}"`;
const NOTHING = 'nothing: there is nothing to do it to';

const ofKind = (world: World, kind: EditedKind) => docsOf(world).filter((doc) => doc.kind === kind);

/** The first name from `at` on that no other manifest of the kind has. */
export function freeName(world: World, kind: EditedKind, at: number): string {
  const taken = ofKind(world, kind).map((doc) => doc.name);
  const names = [...NAMES.keys()].map((step) => pick(NAMES, at + step) ?? '');
  const free = names.find((name) => !taken.some((other) => sameName(other, name)));
  return free ?? `extra-${taken.length}`;
}

function fileOf(world: World, doc: Doc): ManifestFile {
  const file = world.files.find((one) => one.docs.includes(doc));
  if (!file) throw new Error('a document lies in a file');
  return file;
}

/** Takes a document out of its file, and the file with the last one. */
function take(world: World, doc: Doc): void {
  const file = fileOf(world, doc);
  file.docs.splice(file.docs.indexOf(doc), 1);
  if (file.docs.length === 0) world.files.splice(world.files.indexOf(file), 1);
}

/** Into the file at the path, at its end where there is one. */
export function put(world: World, path: string, doc: Doc): void {
  const there = world.files.find((file) => file.path === path);
  if (there) there.docs.push(doc);
  else world.files.push({ path, docs: [doc], fault: null });
}

export const slug = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** On the document that `a` points at. */
const toOne =
  (edit: (doc: Doc, choice: Choice, world: World) => string): Edit =>
  (world, choice) => {
    const doc = pick(docsOf(world), choice.a);
    return doc ? edit(doc, choice, world) : NOTHING;
  };

export const EDITS = {
  create(world, { a, b, c, fresh }) {
    const kind = pick(EDITED_KINDS, a) ?? 'Pipeline';
    const doc = newDoc(kind, freeName(world, kind, b), {
      uid: c % 2 === 0 ? fresh : null,
      variant: a % 3,
      includes: kind === 'Pipeline' && c % 4 === 1,
    });
    const file = c % 3 === 0 ? pick(world.files, b) : undefined;
    const path = file?.path ?? filePath(pick(FOLDERS, a) ?? '', slug(doc.name));
    put(world, path, doc);
    return `create ${said(doc)}${doc.uid === null ? '' : ` with uid ${doc.uid}`} in ${path}`;
  },

  change: toOne((doc, { b }) => {
    doc.variant = (doc.variant + 1 + (b % 3)) % 5;
    return `change the spec of ${said(doc)} to variant ${doc.variant}`;
  }),

  changeShared(world) {
    world.shared += 1;
    return 'change the shared file';
  },

  include: toOne((doc) => {
    if (doc.kind !== 'Pipeline') return NOTHING;
    doc.includes = !doc.includes;
    return `${doc.includes ? 'include' : 'no longer include'} the shared file in ${said(doc)}`;
  }),

  touch: toOne((doc, { b }) => {
    if (b % 4 === 0) {
      doc.comment += 1;
      return `change the comment of ${said(doc)}`;
    }
    if (b % 4 === 1) {
      doc.reversed = !doc.reversed;
      return `reorder the keys of ${said(doc)}`;
    }
    if (b % 4 === 2 && doc.kind === 'Pipeline') {
      doc.position = (doc.position ?? 0) + 10;
      return `move a component of ${said(doc)} in the editor`;
    }
    doc.labels = doc.labels.team === 'a' ? {} : { team: 'a' };
    return `set the labels of ${said(doc)} to ${JSON.stringify(doc.labels)}`;
  }),

  identify: toOne((doc, { fresh }) => {
    if (doc.uid !== null) return NOTHING;
    doc.uid = fresh;
    return `give ${said(doc)} the uid ${fresh}`;
  }),

  renameByUid(world, { a, b }) {
    const doc = pick(
      docsOf(world).filter(({ uid }) => uid !== null),
      a,
    );
    if (!doc) return NOTHING;
    const was = said(doc);
    doc.name = freeName(world, doc.kind, b);
    return `rename ${was} to "${doc.name}" by its uid ${doc.uid}`;
  },

  renameByPreviousName: toOne((doc, { b }, world) => {
    const was = said(doc);
    doc.previousName = doc.name;
    doc.name = freeName(world, doc.kind, b);
    return `rename ${was} to "${doc.name}" by previousName`;
  }),

  renameWithoutTrace: toOne((doc, { b }, world) => {
    const was = said(doc);
    doc.name = freeName(world, doc.kind, b);
    doc.uid = null;
    return `rename ${was} to "${doc.name}" with neither uid nor previousName`;
  }),

  changeCase: toOne((doc) => {
    const was = said(doc);
    const upper = doc.name.toUpperCase();
    doc.name = doc.name === upper ? doc.name.toLowerCase() : upper;
    return `write ${was} as "${doc.name}"`;
  }),

  /** Of two or three, in a circle. */
  swapNames(world, { a, b, c }) {
    const first = pick(docsOf(world), a);
    const others = first ? ofKind(world, first.kind).filter((doc) => doc !== first) : [];
    const circle = [first, ...others.slice(b % Math.max(1, others.length))]
      .filter((doc) => doc !== undefined)
      .slice(0, 2 + (c % 2));
    if (circle.length < 2) return NOTHING;
    const was = circle.map((doc) => `${said(doc)} (uid ${doc.uid})`);
    const names = circle.map((doc) => doc.name);
    circle.forEach((doc, index) => {
      doc.name = names[(index + 1) % names.length] ?? doc.name;
    });
    return `pass the names of ${was.join(', ')} on, each to the one before`;
  },

  moveFile(world, { a, b }) {
    const file = pick(world.files, a);
    if (!file) return NOTHING;
    const was = file.path;
    const path = filePath(pick(FOLDERS, b) ?? '', `moved-${a % 3}`);
    if (world.files.some((other) => other.path === path)) return NOTHING;
    file.path = path;
    return `move ${was} to ${path}`;
  },

  /** Out of its file into another, or into one of its own. */
  moveDocument: toOne((doc, { b, c }, world) => {
    const was = fileOf(world, doc).path;
    const into = c % 2 === 0 ? pick(world.files, b)?.path : undefined;
    const path = into ?? filePath(pick(FOLDERS, b) ?? '', `of-${slug(doc.name)}`);
    take(world, doc);
    put(world, path, doc);
    return `move ${said(doc)} from ${was} to ${path}`;
  }),

  reorder(world, { a }) {
    const file = pick(
      world.files.filter(({ docs }) => docs.length > 1),
      a,
    );
    if (!file) return NOTHING;
    file.docs.reverse();
    return `reorder the documents of ${file.path}`;
  },

  delete: toOne((doc, _choice, world) => {
    take(world, doc);
    return `delete ${said(doc)}`;
  }),

  deleteFolderButOne(world, { a }) {
    const kept = pick(world.files, a);
    if (!kept) return NOTHING;
    const folder = kept.path.slice(0, kept.path.lastIndexOf('/') + 1);
    world.files = world.files.filter((file) => file === kept || !file.path.startsWith(folder));
    return `delete all of ${folder} but ${kept.path}`;
  },

  deleteAll(world, { a }) {
    world.files = [];
    world.readme = a % 2 === 0;
    return `delete every manifest${world.readme ? ', and leave a README' : ' and the folder with them'}`;
  },

  breakDocument: toOne((doc, { b }) => {
    doc.fault = doc.kind === 'Pipeline' ? (pick(DOCUMENT_FAULTS, b) ?? 'schema') : 'schema';
    return `break ${said(doc)}: ${doc.fault}`;
  }),

  breakFile(world, { a, b }) {
    const file = pick(world.files, a);
    if (!file) return NOTHING;
    file.fault = pick(FILE_FAULTS, b) ?? 'YAML error';
    return `break ${file.path}: ${file.fault}`;
  },

  duplicateName: toOne((doc, { b }, world) => {
    const copy = {
      ...structuredClone(doc),
      uid: null,
      name: b % 2 === 0 ? doc.name : doc.name.toUpperCase(),
    };
    put(world, filePath(pick(FOLDERS, b) ?? '', 'copy'), copy);
    return `copy ${said(doc)} as "${copy.name}"`;
  }),

  duplicateUid: toOne((doc, { b }, world) => {
    if (doc.uid === null) return NOTHING;
    const copy = { ...structuredClone(doc), name: freeName(world, doc.kind, b) };
    put(world, filePath(pick(FOLDERS, b) ?? '', 'copy'), copy);
    return `copy ${said(doc)} as "${copy.name}" under the same uid ${doc.uid}`;
  }),

  fix(world) {
    mend(world);
    return 'mend everything';
  },

  depend: toOne((doc, { b }, world) => {
    const other = pick(
      ofKind(world, 'Pipeline').filter((one) => one !== doc),
      b,
    );
    if (!other || (doc.kind !== 'Pipeline' && doc.kind !== 'AlertRule')) return NOTHING;
    doc.refs = doc.kind === 'AlertRule' ? [other.name] : [...new Set([...doc.refs, other.name])];
    return `make ${said(doc)} depend on ${said(other)}`;
  }),

  dependNoMore: toOne((doc) => {
    doc.refs = [];
    return `let ${said(doc)} depend on nothing`;
  }),

  deploy: toOne((doc) => {
    doc.deployed = !doc.deployed;
    return `set deployed of ${said(doc)} to ${doc.deployed}`;
  }),

  suspend: toOne((doc) => {
    if (doc.kind !== 'Pipeline') return NOTHING;
    doc.suspend = !doc.suspend;
    return `set suspend of ${said(doc)} to ${doc.suspend}`;
  }),

  prunePolicy: toOne((doc, { b }) => {
    doc.prune = pick(['confirm', 'never', 'auto'] as const, b) ?? 'auto';
    return `annotate ${said(doc)} with headgate/prune: ${doc.prune}`;
  }),
} satisfies Record<string, Edit>;

export type EditName = keyof typeof EDITS;

/** Takes out every fault that a pass would refuse, and what refers to nothing. Of copies the first stays. */
export function mend(world: World): void {
  const names = new Set<string>();
  const uids = new Set<string>();
  for (const file of world.files) {
    file.fault = null;
    file.docs = file.docs.filter((doc) => {
      const claim = `${doc.kind}/${doc.name.toLowerCase()}`;
      const copied = names.has(claim) || (doc.uid !== null && uids.has(doc.uid));
      if (copied) return false;
      names.add(claim);
      if (doc.uid !== null) uids.add(doc.uid);
      doc.fault = null;
      return true;
    });
  }
  world.files = world.files.filter((file) => file.docs.length > 0);
  mendReferences(world);
}

/** Leaves the references to pipelines that are there; those of pipelines only to earlier ones, so that none is a circle. */
function mendReferences(world: World): void {
  const earlier: string[] = [];
  const pipelines = ofKind(world, 'Pipeline').map((doc) => doc.name);
  for (const doc of docsOf(world)) {
    const known = doc.kind === 'Pipeline' ? earlier : pipelines;
    doc.refs = doc.refs.filter((ref) => known.some((name) => sameName(name, ref)));
    if (doc.kind === 'Pipeline') earlier.push(doc.name);
  }
}
