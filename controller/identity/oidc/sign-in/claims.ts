/** What a provider says of somebody, read with care: all of it is text from outside. No I/O. */
import { EMAIL } from '../../../../schemas/api/people.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface Profile {
  /** Null where there is none that could be one. */
  email: string | null;
  /** Null where the provider does not say. */
  emailVerified: boolean | null;
  name: string | null;
}

export type ClaimedGroups =
  | { known: true; names: string[] }
  /** What they are cannot be told from this: those of before are kept. Never "no groups". */
  | { known: false; reason: string };

const MOST_GROUPS = 1_000;
const GROUP_LENGTH = 256;
const NAME_LENGTH = 100;
const EMAIL_LENGTH = 320;
const IS_EMAIL = new RegExp(EMAIL, 'u');
/** Control characters, and what the database cannot keep. */
const ODD = /[\p{Cc}\p{Cs}]/u;

const textAt = (claims: Claims, name: string): string | null => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
};

export function profileOf(claims: Claims): Profile {
  const email = textAt(claims, 'email');
  const name = textAt(claims, 'name') ?? textAt(claims, 'preferred_username');
  return {
    email: email !== null && email.length <= EMAIL_LENGTH && IS_EMAIL.test(email) ? email : null,
    emailVerified: yesOrNo(Object.hasOwn(claims, 'email_verified') ? claims.email_verified : undefined),
    name: name === null ? null : shortName(name),
  };
}

/** Some providers write it as a text. */
function yesOrNo(value: unknown): boolean | null {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  return null;
}

/** Null where nothing that can be read is left of it. */
function shortName(text: string): string | null {
  const readable = [...text.toWellFormed()].filter((letter) => !ODD.test(letter)).join('');
  return readable.slice(0, NAME_LENGTH).toWellFormed().replaceAll('\ufffd', '').trim() || null;
}

/** What the ID token leaves open is taken from userinfo; an address and whether it is verified from one place. */
export function mergedProfile(token: Profile, userinfo: Profile | null): Profile {
  if (!userinfo) return token;
  const sameAddress = token.email !== null && token.email === userinfo.email;
  return {
    email: token.email ?? userinfo.email,
    emailVerified:
      token.email === null
        ? userinfo.emailVerified
        : (token.emailVerified ?? (sameAddress ? userinfo.emailVerified : null)),
    name: token.name ?? userinfo.name,
  };
}

/** `trusted`: the provider verifies every address, and does not say so. */
export const believedProfile = (profile: Profile, trusted: boolean): Profile =>
  trusted && profile.email !== null && profile.emailVerified === null
    ? { ...profile, emailVerified: true }
    : profile;

/** OpenID Connect Core 1.0, 2: `acr` is one, `amr` is a list (RFC 8176). Some providers give `acr` as a number. */
export function showsSecondFactor({ acr, amr }: Claims, counting: readonly string[]): boolean {
  const shown = [acr, ...(Array.isArray(amr) ? amr.slice(0, 100) : [amr])];
  return shown.some(
    (one) => (typeof one === 'string' || typeof one === 'number') && counting.includes(`${one}`),
  );
}

export const withPrefix = (groups: ClaimedGroups, prefix: string): ClaimedGroups =>
  groups.known && prefix !== ''
    ? { known: true, names: groups.names.map((name) => `${prefix}${name}`) }
    : groups;

/** `path` is a claim's name, which may have dots in it, or leads into objects: `realm_access.roles`. Null where nothing is there. */
export function groupsAt(claims: Claims, path: string): ClaimedGroups | null {
  const [first = ''] = path.split('.');
  // Entra ID, for whoever is in more groups than fit: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference
  const elsewhere = claims._claim_names;
  if (
    claims.hasgroups === true ||
    (isObject(elsewhere) && (Object.hasOwn(elsewhere, path) || Object.hasOwn(elsewhere, first)))
  )
    return { known: false, reason: 'the provider left them out, since there are too many' };
  const value = valueAt(claims, path);
  if (value === undefined || value === null) return null;
  const names = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
    return { known: false, reason: `the claim ${path} is no list of texts` };
  if (names.length > MOST_GROUPS)
    return { known: false, reason: `the claim ${path} has more than ${MOST_GROUPS} names` };
  if (names.some((name) => name.length > GROUP_LENGTH || ODD.test(name)))
    return { known: false, reason: `the claim ${path} has a name that cannot be one` };
  return { known: true, names: [...new Set(names.filter((name) => name !== ''))] };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function valueAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}
