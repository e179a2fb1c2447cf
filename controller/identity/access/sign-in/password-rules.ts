/**
 * Rules for new passwords. Any characters are allowed and none are required, but a password must not be one that attackers try
 * first: OWASP ASVS 5.0 6.2.4 (common passwords), 6.2.11 (context-specific terms).
 */
import { badRequest } from '../../../platform/operation/errors.ts';

const ADVICE = 'four unrelated words make a good one';

let common: Promise<ReadonlySet<string>> | undefined;

/** About 50,000 passwords in lower case, loaded on first use. */
async function loadCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}

/** Removes everything before and after the letters: `headgate123!` becomes `headgate`. */
const coreOf = (text: string) => text.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]{1,64}$/u, '');

/** Terms that identify the user or the product, in lower case. */
function contextTerms({ email, name }: { email: string; name: string }): Set<string> {
  const [local = ''] = email.split('@');
  const terms = [email, local, local.replaceAll(/[._-]/g, ''), name, name.replaceAll(/\s/g, ''), 'headgate'];
  return new Set(terms.map((term) => term.toLowerCase()).filter((term) => term !== ''));
}

/** @throws BAD_REQUEST with the reason and advice; never with the password. */
export async function assertStrongPassword(
  password: string,
  account: { email: string; name: string },
): Promise<void> {
  const lower = password.normalize('NFKC').toLowerCase();
  common ??= loadCommon();
  if ((await common).has(lower))
    throw badRequest(
      `This password is one of the most common, which attackers try first. Choose another: ${ADVICE}`,
    );
  const terms = contextTerms(account);
  if (terms.has(lower) || terms.has(coreOf(lower)))
    throw badRequest(`This password consists of your name or address. Choose another: ${ADVICE}`);
}
