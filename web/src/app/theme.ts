/** Mantine in the colours, sizes and defaults of this UI. Every value is a token of `ui/styles/tokens.css`. */
import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  isMantineColorScheme,
  type MantineColorSchemeManager,
  type MantineColorsTuple,
} from '@mantine/core';
import { onPreference, readPreference, writePreference } from './preferences/preferences.ts';

const accent: MantineColorsTuple = [
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

/** Both grey scales are tokens, which follow the scheme: components that take a step of either look the same. */
const gray: MantineColorsTuple = [
  'var(--hover)',
  'var(--raised)',
  'var(--raised)',
  'var(--border)',
  'var(--border-strong)',
  'var(--border-strong)',
  'var(--text-3)',
  'var(--text-2)',
  'var(--text)',
  'var(--text)',
];
const dark: MantineColorsTuple = [
  'var(--text)',
  'var(--text-2)',
  'var(--text-3)',
  'var(--text-3)',
  'var(--border-strong)',
  'var(--hover)',
  'var(--surface)',
  'var(--surface)',
  'var(--raised)',
  'var(--bg)',
];

const TONES = ['ok', 'calm', 'moving', 'held', 'failed', 'unknown'];

interface ComponentDefaults {
  defaultProps?: object;
  vars?: (theme: unknown, props: { size?: unknown }) => object;
}

/** `Button.extend` and the like would load every component with the first page. */
const components: Record<string, ComponentDefaults> = {
  ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray', size: 32 } },
  Alert: { defaultProps: { variant: 'light', p: '8px 12px' } },
  Badge: {
    defaultProps: { variant: 'light', tt: 'none', fw: 500, radius: 10 },
    vars: () => ({
      root: { '--badge-fz': '12px', '--badge-height': '20px', '--badge-padding-x': '7px' },
    }),
  },
  Button: {
    defaultProps: { variant: 'default', fw: 500 },
    vars: (_, { size }) => ({
      root:
        size === 'xs'
          ? { '--button-height': '26px', '--button-padding-x': '8px', '--button-fz': '12px' }
          : { '--button-height': '32px', '--button-padding-x': '12px', '--button-fz': '13px' },
    }),
  },
  Checkbox: { defaultProps: { size: 'xs' } },
  Input: { vars: () => ({ wrapper: { '--input-height': '34px', '--input-fz': '13px' } }) },
  InputWrapper: {
    defaultProps: { withAsterisk: false, inputWrapperOrder: ['label', 'input', 'description', 'error'] },
    vars: () => ({
      label: { '--input-label-size': '13px' },
      error: { '--input-error-size': '12px' },
      description: { '--input-description-size': '12px' },
    }),
  },
  // Inside the page's landmark, as whatever is to be read should be; what has the focus first is its first entry.
  Menu: {
    defaultProps: { portalProps: { target: '#main' }, withInitialFocusPlaceholder: false, shadow: 'md' },
  },
  Radio: { defaultProps: { size: 'xs' } },
  Tabs: { defaultProps: { keepMounted: false } },
};

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: 7,
  colors: { accent, gray, dark },
  black: '#16202a',
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '1.45', sm: '1.45', md: '1.45', lg: '1.4', xl: '1.3' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '4px', sm: '4px', md: '6px', lg: '6px', xl: '6px' },
  shadows: { md: 'var(--shadow)', xl: 'var(--shadow)' },
  defaultRadius: 'md',
  focusRing: 'auto',
  respectReducedMotion: true,
  /** A tone as a colour takes the colours of that state. */
  variantColorResolver: (input) => {
    const { color, variant } = input;
    if (color && TONES.includes(color))
      return {
        background: `var(--${color}-weak)`,
        hover: `color-mix(in srgb, var(--${color}-weak) 85%, var(--${color}))`,
        color: `var(--${color})`,
        border: `1px solid ${variant === 'outline' ? `var(--${color})` : 'transparent'}`,
      };
    if (variant === 'filled' && (color === undefined || color === 'accent'))
      return {
        background: 'var(--accent)',
        hover: 'color-mix(in srgb, var(--accent) 90%, white)',
        color: 'var(--on-accent)',
        border: '1px solid transparent',
      };
    if (variant === 'subtle' && color === 'gray')
      return { background: 'transparent', hover: 'var(--hover)', color: 'var(--text-2)', border: 'none' };
    if (variant === 'light' && (color === undefined || color === 'accent'))
      return {
        background: 'var(--accent-weak)',
        hover: 'var(--accent-weak)',
        color: 'var(--accent-text)',
        border: '1px solid transparent',
      };
    return defaultVariantColorsResolver(input);
  },
  components,
});

const variables = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-bright': 'var(--text)',
  '--mantine-color-dimmed': 'var(--text-3)',
  '--mantine-color-placeholder': 'var(--text-3)',
  '--mantine-color-anchor': 'var(--accent-text)',
  '--mantine-color-error': 'var(--failed)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--border)',
  '--mantine-color-disabled': 'var(--raised)',
  '--mantine-color-disabled-color': 'var(--text-3)',
  '--mantine-color-disabled-border': 'var(--border)',
  '--mantine-primary-color-filled': 'var(--accent)',
  '--mantine-primary-color-contrast': 'var(--on-accent)',
};

/** Mantine's own variables are ours, in both schemes. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: variables,
  dark: variables,
});

let stopListening: (() => void) | undefined;

/** The scheme is a preference, so that it follows the user to other browsers. */
export const colorScheme: MantineColorSchemeManager = {
  get: (fallback) => {
    const stored = readPreference('theme');
    return isMantineColorScheme(stored) ? stored : fallback;
  },
  set: (value) => {
    if (readPreference('theme') !== value) writePreference('theme', value);
  },
  subscribe: (onUpdate) => {
    stopListening = onPreference(() => {
      const stored = readPreference('theme');
      if (isMantineColorScheme(stored)) onUpdate(stored);
    });
  },
  unsubscribe: () => stopListening?.(),
  clear: () => writePreference('theme', 'auto'),
};
