/** Paths of events as VRL programs write them, to be offered while one is written. Knows nothing of an editor. */

export interface PathOffer {
  /** From the event's root, such as `.kubernetes."app.io/name"`. */
  path: string;
  /** What kind of value stands there, and one that was seen. */
  about: string;
}

const MAX_PATHS = 500;
const MAX_DEPTH = 12;
const PLAIN_KEY = /^[A-Za-z_@][A-Za-z0-9_@]*$/;

/** A sampled field's path: of a list, its first item. */
export const vrlPath = (path: string): string => path.replaceAll('[]', '[0]');

const segment = (key: string): string => `.${PLAIN_KEY.test(key) ? key : JSON.stringify(key)}`;

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}

/** All paths of one event, outer ones first. */
export function pathsOfEvent(event: unknown): PathOffer[] {
  const found: PathOffer[] = [];
  let level: { path: string; value: unknown }[] = [{ path: '', value: event }];
  for (let depth = 0; level.length > 0 && depth < MAX_DEPTH; depth += 1) {
    level = level
      .flatMap(({ path, value }) => {
        if (typeof value !== 'object' || value === null) return [];
        if (Array.isArray(value)) return value.length > 0 ? [{ path: `${path}[0]`, value: value[0] }] : [];
        return Object.entries(value).map(([key, item]) => ({ path: path + segment(key), value: item }));
      })
      .slice(0, MAX_PATHS - found.length);
    found.push(...level.map(({ path, value }) => ({ path, about: kindOf(value) })));
  }
  return found;
}

const KEY = '(?:[A-Za-z_@][\\w@]*|"[^"\\n]*")(?:\\[\\d*\\])*';
/** A path that is being written, whose last key may be unfinished; not what follows a number, a call or a variable. */
const WRITTEN = new RegExp(`(?<![\\w"\\])])\\.(?:${KEY}(?:\\.${KEY})*\\.?)?(?:"[^"\\n]*)?$`);

/** Where the path begins that the text ends in; null where it ends in none. */
export const pathBefore = (text: string): number | null => WRITTEN.exec(text)?.index ?? null;
