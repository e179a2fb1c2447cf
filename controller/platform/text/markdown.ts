import { visible } from './visible-text.ts';

/** As text: nothing in it is a link, a name that is notified, or markup. */
export const escaped = (text: string): string =>
  visible(text)
    .replaceAll(/[\\`*_{}[\]()#+!|~$]/g, (sign) => `\\${sign}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '@\u200b');
