import {
  createTheme,
  isMantineColorScheme,
  type MantineColorSchemeManager,
  type MantineColorsTuple,
} from '@mantine/core';
import { onPreference, readPreference, writePreference } from './preferences.ts';

const water: MantineColorsTuple = [
  '#eaf4fc',
  '#d5e7f7',
  '#a8cdee',
  '#78b2e5',
  '#529bdd',
  '#398dd9',
  '#2b7fca',
  '#1d6fb8',
  '#155c9b',
  '#0d497e',
];

export const theme = createTheme({
  primaryColor: 'water',
  primaryShade: 7,
  colors: { water },
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  defaultRadius: 6,
  focusRing: 'auto',
  respectReducedMotion: true,
  components: {
    Menu: {
      // Inside the page's landmark, as whatever is to be read should be; what has the focus first is its first entry.
      defaultProps: { portalProps: { target: '#main' }, withInitialFocusPlaceholder: false },
    },
  },
});

let stopListening: (() => void) | undefined;

/** The scheme is a preference, so that it follows the person. */
export const colorScheme: MantineColorSchemeManager = {
  get: (standard) => {
    const kept = readPreference('theme');
    return isMantineColorScheme(kept) ? kept : standard;
  },
  set: (value) => {
    if (readPreference('theme') !== value) writePreference('theme', value);
  },
  subscribe: (onUpdate) => {
    stopListening = onPreference(() => {
      const kept = readPreference('theme');
      if (isMantineColorScheme(kept)) onUpdate(kept);
    });
  },
  unsubscribe: () => stopListening?.(),
  clear: () => writePreference('theme', 'auto'),
};
