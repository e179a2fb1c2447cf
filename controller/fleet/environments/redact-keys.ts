/** Keys whose values are redacted in sampled events, unless the environment sets its own list. */
export const DEFAULT_REDACT_KEYS: readonly string[] = [
  ...['*password*', '*passwd*', '*passphrase*', 'pwd', '*secret*', '*token*', '*credential*'],
  ...['*api_key*', '*apikey*', '*api-key*', '*access_key*', '*accesskey*', '*access-key*'],
  ...['*private_key*', '*privatekey*', '*private-key*', '*authorization*', '*cookie*', '*session_id*'],
  ...['*credit_card*', '*creditcard*', '*credit-card*', 'card_number', 'cvv', 'cvc', 'ssn', '*_ssn'],
];

/** `stored` is null if the environment has no list of its own; an empty list redacts nothing. */
export const effectiveRedactKeys = (stored: readonly string[] | null): readonly string[] =>
  stored ?? DEFAULT_REDACT_KEYS;
