/** Renders a component to HTML without a browser, for unit tests. React is a package of this folder alone. */
import { createElement, type FunctionComponent } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

export const toStaticMarkup = <Props extends object>(
  component: FunctionComponent<Props>,
  props: Props,
): string => renderToStaticMarkup(createElement(component, props));
