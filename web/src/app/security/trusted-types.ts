/**
 * The page's policy takes no text where markup or a script is wanted, unless this has passed it (Trusted Types). Styles are
 * set as the inner HTML of their element, and hold no `<`; whatever else comes as markup is refused.
 */
interface PolicyFactory {
  createPolicy(name: string, rules: { createHTML(text: string): string | null }): unknown;
}

const { trustedTypes } = globalThis as { trustedTypes?: PolicyFactory };
trustedTypes?.createPolicy('default', { createHTML: (text) => (text.includes('<') ? null : text) });
