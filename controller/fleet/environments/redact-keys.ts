/** Keys whose values nobody is shown in the events of an environment, where it does not name others. */
export const DEFAULT_REDACT_KEYS: readonly string[] = [
  ...['*password*', '*passwd*', '*passphrase*', 'pwd', '*secret*', '*token*', '*credential*'],
  ...['*api_key*', '*apikey*', '*api-key*', '*access_key*', '*accesskey*', '*access-key*'],
  ...['*private_key*', '*privatekey*', '*private-key*', '*authorization*', '*cookie*', '*session_id*'],
  ...['*credit_card*', '*creditcard*', '*credit-card*', 'card_number', 'cvv', 'cvc', 'ssn', '*_ssn'],
];

/** `stored` is null where the environment has none of its own; an empty list hides nothing. */
export const effectiveRedactKeys = (stored: readonly string[] | null): readonly string[] =>
  stored ?? DEFAULT_REDACT_KEYS;
