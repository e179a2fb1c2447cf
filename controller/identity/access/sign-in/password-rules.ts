/**
 * What a new password may not be. Any characters, no composition; but nothing that a guesser tries first: OWASP ASVS 5.0
 * 6.2.4 (common passwords), 6.2.11 (words of the place).
 */
import { badRequest } from '../../../platform/operation/errors.ts';

const ADVICE = 'four words that have nothing to do with each other make a good one';

let common: Promise<ReadonlySet<string>> | undefined;

/** Some 50,000, in lower case. Loaded for the first who needs them. */
async function loadCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

/** Without what stands before and after its letters: `headgate123!` is `headgate`. */
const coreOf = (text: string) => text.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]{1,64}$/u, '');

/** What somebody is known by, in lower case. */
function wordsOf({ email, name }: { email: string; name: string }): Set<string> {
  const [local = ''] = email.split('@');
  const words = [email, local, local.replaceAll(/[._-]/g, ''), name, name.replaceAll(/\s/g, ''), 'headgate'];
  return new Set(words.map((word) => word.toLowerCase()).filter((word) => word !== ''));
}

/** @throws BAD_REQUEST, which says why and what to take instead; never the password. */
export async function assertStrongPassword(
  password: string,
  account: { email: string; name: string },
): Promise<void> {
  const lower = password.normalize('NFKC').toLowerCase();
  common ??= loadCommon();
  if ((await common).has(lower))
    throw badRequest(
      `This password is one of the most common, which are guessed first. Choose another: ${ADVICE}`,
    );
  const words = wordsOf(account);
  if (words.has(lower) || words.has(coreOf(lower)))
    throw badRequest(`This password is made of your name or address. Choose another: ${ADVICE}`);
}
