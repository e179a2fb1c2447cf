import { createTheme, localStorageColorSchemeManager, type MantineColorsTuple } from '@mantine/core';

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
});

export const colorScheme = localStorageColorSchemeManager({ key: 'headgate.theme' });
