/**
 * The page's Content-Security-Policy admits only those `<style>` elements that carry the nonce of this very answer. It is
 * empty where the page came without a policy, from Vite.
 */
export const styleNonce: string =
  document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? '';

// What keeps the page behind a dialog from scrolling looks for its nonce under this name.
Object.assign(globalThis, { __webpack_nonce__: styleNonce });
