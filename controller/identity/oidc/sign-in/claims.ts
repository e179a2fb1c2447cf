/** Reads the claims of a user defensively, because they are external input. No I/O. */
import { EMAIL } from '../../../../schemas/api/identity/people.ts';

export type Claims = Readonly<Record<string, unknown>>;

export interface Profile {
  /** Null where the claim is absent or not a valid address. */
  email: string | null;
  /** Null where the provider does not give the claim. */
  emailVerified: boolean | null;
  name: string | null;
}

export type ClaimedGroups =
  | { known: true; names: string[] }
  /** The groups are unknown, so the previous ones stay. This never means "no groups". */
  | { known: false; reason: string };

const MAX_GROUPS = 1_000;
const GROUP_LENGTH = 256;
const NAME_LENGTH = 100;
const EMAIL_LENGTH = 320;
const IS_EMAIL = new RegExp(EMAIL, 'u');
/** Control characters, and characters that the database cannot store. */
const INVALID = /[\p{Cc}\p{Cs}]/u;

const textAt = (claims: Claims, name: string): string | null => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
};

export function profileOf(claims: Claims): Profile {
  const email = textAt(claims, 'email');
  const name = textAt(claims, 'name') ?? textAt(claims, 'preferred_username');
  return {
    email: email !== null && email.length <= EMAIL_LENGTH && IS_EMAIL.test(email) ? email : null,
    emailVerified: parseBoolean(Object.hasOwn(claims, 'email_verified') ? claims.email_verified : undefined),
    name: name === null ? null : cleanName(name),
  };
}

/** Some providers send a boolean as text. */
function parseBoolean(value: unknown): boolean | null {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  return null;
}

/** Null where no printable character is left. */
function cleanName(text: string): string | null {
  const readable = [...text.toWellFormed()].filter((letter) => !INVALID.test(letter)).join('');
  return readable.slice(0, NAME_LENGTH).toWellFormed().replaceAll('\ufffd', '').trim() || null;
}

/** Fills gaps of the ID token from userinfo. The address and its verification come from the same source. */
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

/** `trusted`: the provider verifies every address without sending the claim. */
export const trustedProfile = (profile: Profile, trusted: boolean): Profile =>
  trusted && profile.email !== null && profile.emailVerified === null
    ? { ...profile, emailVerified: true }
    : profile;

/** `acr` is a single value and `amr` a list: OpenID Connect Core 1.0, section 2, RFC 8176. Some providers send `acr` as a number. */
export function provesSecondFactor({ acr, amr }: Claims, accepted: readonly string[]): boolean {
  const values = [acr, ...(Array.isArray(amr) ? amr.slice(0, 100) : [amr])];
  return values.some(
    (one) => (typeof one === 'string' || typeof one === 'number') && accepted.includes(`${one}`),
  );
}

export const withPrefix = (groups: ClaimedGroups, prefix: string): ClaimedGroups =>
  groups.known && prefix !== ''
    ? { known: true, names: groups.names.map((name) => `${prefix}${name}`) }
    : groups;

/** `path` is the name of a claim, which may contain dots, or a path into objects: `realm_access.roles`. Null where it is absent. */
export function groupsAt(claims: Claims, path: string): ClaimedGroups | null {
  const [first = ''] = path.split('.');
  // Entra ID omits the groups where there are too many: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference
  const claimNames = claims._claim_names;
  if (
    claims.hasgroups === true ||
    (isObject(claimNames) && (Object.hasOwn(claimNames, path) || Object.hasOwn(claimNames, first)))
  )
    return { known: false, reason: 'the provider omitted the groups because there are too many' };
  const value = valueAt(claims, path);
  if (value === undefined || value === null) return null;
  const names = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))
    return { known: false, reason: `the claim ${path} is not a list of texts` };
  if (names.length > MAX_GROUPS)
    return { known: false, reason: `the claim ${path} has more than ${MAX_GROUPS} names` };
  if (names.some((name) => name.length > GROUP_LENGTH || INVALID.test(name)))
    return { known: false, reason: `the claim ${path} has an invalid name` };
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
